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

from .logic import Relation, Sort, Symbolic, Term, constant, no, symbol
from .system import Action, Claim, Predicate, System

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
    near: tuple[Term, ...] = ()
    """The part of what is given that names the goal's own clause and the action."""

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
            goal = formula(after)
            near = (*assumed, *(clauses[each] for each in (name, *system.hints.get(name, ()))), guard)
            yield Obligation("preserved", name, action.name, (*invariant, guard), goal, near)
    for claim in system.claims:
        used = [clauses[name] for name in claim.by] or list(clauses.values())
        yield from _implied(system, claim, now, (*assumed, *used))


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


def _parameter(action: Action, place: int, kind: Sort | Predicate | str) -> Term:
    name = f"{action.name} {place}"
    if isinstance(kind, Predicate):
        return symbol(Relation(name, kind.arguments))
    return constant(kind, name)


def discharge(obligation: Obligation, milliseconds: int = MILLISECONDS) -> Result:
    """Ask z3 for a state that satisfies what is given and not the goal.

    A proof needs few of the clauses, so the first attempts are short: the same clause and the guard alone, then all
    clauses without a search for models. Only the last attempt can find a counterexample.
    """
    import z3

    began = time.perf_counter()
    if any(obligation.goal.eq(term) for term in obligation.given):
        return Result(obligation, "PROVED", 0.0)
    for given, options in (
        (obligation.near, {"timeout": 2_000, "smt.mbqi": False}),
        (obligation.near, {"timeout": 2_000}),
        (obligation.given, {"timeout": 2_000, "smt.mbqi": False}),
        (obligation.given, {"timeout": milliseconds}),
    ):
        solver = z3.Solver()
        for name, value in options.items():
            solver.set(name, value)
        solver.add(*given, no(obligation.goal))
        answer = solver.check()
        if answer == z3.unsat:
            return Result(obligation, "PROVED", time.perf_counter() - began)
    seconds = time.perf_counter() - began
    if answer == z3.sat:
        return Result(obligation, "FAILED", seconds, solver.model())
    return Result(obligation, "UNDETERMINED", seconds)


def prove(system: System, report: Callable[[Result], None] = lambda _: None) -> list[Result]:
    """The answers to all obligations of a system."""
    results = []
    for each in obligations(system):
        results.append(discharge(each))
        report(results[-1])
    return results
