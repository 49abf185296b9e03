"""The proof obligations of a system, and their answers.

    initially        an initial state satisfies each clause
    preserved        a step from a state that satisfies all clauses leads to one that satisfies each
    implied          the clauses imply each promise, of a state or of a step

If z3 finds a counterexample, the obligation fails. If it does not decide in time, the obligation is undetermined.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from .logic import Symbolic, Term, both, constant, no, symbol
from .system import Action, Claim, Predicate, System
from .logic import Relation

Answer = Literal["PROVED", "FAILED", "UNDETERMINED"]
MILLISECONDS = 10_000


@dataclass(frozen=True)
class Obligation:
    """One query. `clause` is the clause or promise; `action` the step, "" for initial states and promises of states."""

    kind: Literal["initially", "preserved", "implied"]
    clause: str
    action: str
    given: tuple[Term, ...]
    goal: Term

    @property
    def name(self) -> str:
        return {
            "initially": f"initially: {self.clause}",
            "preserved": f"{self.action} preserves: {self.clause}",
            "implied": f"{self.clause} over {self.action}" if self.action else f"implied: {self.clause}",
        }[self.kind]


@dataclass(frozen=True)
class Result:
    """The answer to an obligation. `model`: the counterexample of z3, if it fails."""

    obligation: Obligation
    answer: Answer
    seconds: float
    model: Term | None = None


def obligations(system: System) -> Iterator[Obligation]:
    """All obligations of a system."""
    now = Symbolic(system.relations)
    assumed = tuple(formula(now) for formula in system.background.values())
    clauses = {name: formula(now) for name, formula in system.clauses.items()}
    start = system.initially(now)
    for name, clause in clauses.items():
        yield Obligation("initially", name, "", (*assumed, start), clause)
    invariant = (*assumed, *clauses.values())
    for action in system.actions:
        guard, after = step(system, now, action)
        for name, formula in system.clauses.items():
            yield Obligation("preserved", name, action.name, (*invariant, guard), formula(after))
    for claim in system.claims:
        yield from _implied(system, claim, now, invariant)


def _implied(system: System, claim: Claim, now: Symbolic, invariant: tuple[Term, ...]) -> Iterator[Obligation]:
    if claim.holds is not None:
        yield Obligation("implied", claim.promise, "", invariant, claim.holds(now))
    if claim.step is not None:
        for action in system.actions:
            guard, after = step(system, now, action)
            yield Obligation("implied", claim.promise, action.name, (*invariant, guard), claim.step(now, after))


def step(system: System, now: Symbolic, action: Action) -> tuple[Term, Symbolic]:
    """The guard of an action for some parameters, and the state after it."""
    parameters = [_parameter(action, place, each) for place, each in enumerate(action.parameters)]
    updates = action.updates(now, *parameters)
    return action.guard(now, *parameters), Symbolic(system.relations, updates, before=now)


def _parameter(action: Action, place: int, kind: object) -> object:
    name = f"{action.name} {place}"
    if isinstance(kind, Predicate):
        return symbol(Relation(name, kind.arguments))
    return constant(kind, name)  # type: ignore[arg-type]


def discharge(obligation: Obligation, milliseconds: int = MILLISECONDS) -> Result:
    """Ask z3 for a state that satisfies what is given and not the goal."""
    import z3

    solver = z3.Solver()
    solver.set("timeout", milliseconds)
    solver.add(*obligation.given, no(obligation.goal))
    began = time.perf_counter()
    answer = solver.check()
    seconds = time.perf_counter() - began
    if answer == z3.unsat:
        return Result(obligation, "PROVED", seconds)
    if answer == z3.sat:
        return Result(obligation, "FAILED", seconds, solver.model())
    return Result(obligation, "UNDETERMINED", seconds)


def prove(system: System, said: Callable[[Result], None] = lambda _: None) -> list[Result]:
    """The answers to all obligations of a system."""
    results = []
    for each in obligations(system):
        results.append(discharge(each))
        said(results[-1])
    return results
