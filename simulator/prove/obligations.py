"""The proof obligations of a system, and their answers.

    initially        an initial state satisfies each clause
    preserved        a step from a state that satisfies all clauses leads to one that satisfies each
    implied          the clauses imply each promise, of a state or of a step

If z3 finds a counterexample, the obligation fails. If it does not decide in time, the obligation is undetermined.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from .logic import Relation, Sort, Symbolic, Term, constant, no, symbol
from .small import Universe
from .system import Action, Claim, Predicate, System

Answer = Literal["PROVED", "FAILED", "UNDETERMINED"]
MILLISECONDS = 20_000


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
    sorts: tuple[Sort, ...] = ()

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
    sorts = tuple(dict.fromkeys(sort for relation in system.relations for sort in relation.arguments))
    assumed = tuple(formula(now) for formula in system.background.values())
    clauses = {name: formula(now) for name, formula in system.clauses.items()}
    start = system.initially(now)
    for name, clause in clauses.items():
        yield Obligation("initially", name, "", (*assumed, start), clause, (*assumed, start), sorts)
    invariant = (*assumed, *clauses.values())
    for action in system.actions:
        guard, after = step(system, now, action)
        for name, formula in system.clauses.items():
            goal = formula(after)
            near = (*assumed, *(clauses[each] for each in (name, *system.hints.get(name, ()))), guard)
            yield Obligation("preserved", name, action.name, (*invariant, guard), goal, near, sorts)
    for claim in system.claims:
        used = [clauses[name] for name in claim.by] or list(clauses.values())
        yield from (replace(each, sorts=sorts) for each in _implied(system, claim, now, (*assumed, *used)))


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


_proved: dict[tuple[frozenset[int], int], tuple[Term, ...]] = {}
"""Proofs from a few premises, by the identities of their terms. The terms are kept, so that z3 does not reuse these."""


def discharge(obligation: Obligation, milliseconds: int = MILLISECONDS) -> Result:
    """Ask z3 for a state that satisfies what is given and not the goal.

    A proof needs few of the clauses, so that most attempts are short: the same clause and the guard alone, then all
    clauses. The time of a proof depends on chance, so that many short attempts are better than a long one. If the first
    attempts fail, a counterexample with few elements is searched: it is found soon, and is easy to read.
    """
    began = time.perf_counter()
    near = obligation.near or obligation.given
    key = frozenset(term.get_id() for term in near), obligation.goal.get_id()
    if key in _proved or any(obligation.goal.eq(term) for term in obligation.given):
        return Result(obligation, "PROVED", time.perf_counter() - began)
    for place, attempt in enumerate(_attempts(obligation, near, milliseconds)):
        answer, model = attempt.ask(obligation.goal)
        if answer == "unsat":
            if attempt.given is near:
                _proved[key] = (*near, obligation.goal)
            return Result(obligation, "PROVED", time.perf_counter() - began)
        if place == SHORT:
            model = small_counterexample(obligation) or model
        if model is not None and (place == SHORT or attempt.given is obligation.given):
            return Result(obligation, "FAILED", time.perf_counter() - began, model)
    return Result(obligation, "UNDETERMINED", time.perf_counter() - began)


@dataclass(frozen=True)
class Attempt:
    """One question to z3. `models`: search for models of quantified formulas."""

    given: tuple[Term, ...]
    milliseconds: int
    models: bool = False
    seed: int = 0
    arithmetic: int = 6
    """The number of z3's solver for arithmetic."""

    def ask(self, goal: Term) -> tuple[str, Term]:
        """z3's answer, with its model if it has one."""
        import z3

        solver = z3.Solver()
        solver.set("timeout", self.milliseconds)
        solver.set("smt.mbqi", self.models)
        solver.set("smt.random_seed", self.seed)
        solver.set("smt.arith.solver", self.arithmetic)
        solver.add(*self.given, no(goal))
        answer = solver.check()
        return str(answer), solver.model() if answer == z3.sat else None


def _attempts(obligation: Obligation, near: tuple[Term, ...], milliseconds: int) -> Iterator[Attempt]:
    given = obligation.given
    yield from (Attempt(near, 500), Attempt(near, 500, models=True), Attempt(given, 500))
    for seed in range(1, 9):
        yield from (Attempt(near, 400, seed=seed), Attempt(near, 400, seed=seed, arithmetic=2))
        yield Attempt(given, 400, models=seed % 2 == 0, seed=seed)
    yield Attempt(given, milliseconds, models=True)
    # On a busy machine the short attempts may all have been too short.
    yield from (Attempt(near, milliseconds, seed=seed, arithmetic=2) for seed in (1, 2))


SHORT: Final = 2
"""The number of short attempts before the search for a small counterexample."""


def small_counterexample(obligation: Obligation) -> Term:
    """A counterexample with one, two or three elements of each sort; None if there is none."""
    import z3

    for most in (1, 2, 3):
        solver = z3.Solver()
        solver.set("timeout", 5_000)
        solver.add(*Universe(obligation.sorts, most).given([*obligation.given, no(obligation.goal)]))
        if solver.check() == z3.sat:
            return solver.model()
    return None


def prove(system: System, report: Callable[[Result], None] = lambda _: None) -> list[Result]:
    """The answers to all obligations of a system."""
    results = []
    for each in obligations(system):
        results.append(discharge(each))
        report(results[-1])
    return results
