"""Generates the proof obligations of a transition relation, and discharges them with z3.

`initially`: each initial state satisfies each clause of the invariant. `preserved`: for each clause, every step from a
state that satisfies the invariant leads to a state that satisfies the clause. `implied`: the clauses of the invariant
imply each promise. `possible`: for each action, some state satisfies all clauses and the action's guard; otherwise, the
proof would be vacuous.

If z3 finds a counterexample, the obligation is FAILED. If z3 does not decide, the obligation is UNDETERMINED. The
limits count z3's steps, not seconds, so that results do not depend on the machine's load.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, Literal

from .logic import Relation, Sort, Symbolic, Term, constant, no, symbol
from .small import Universe
from .system import Claim, Move, NewTimes, Parameter, ProvedSystem, SetParameter, TimesParameter

Answer = Literal["PROVED", "PROVED IN PART", "FAILED", "UNDETERMINED"]
"""The answer to an obligation or a promise; only a promise is PROVED IN PART."""
STEPS: Final = 60_000_000
"""z3's steps in the longest attempt of a proof: about twenty seconds."""


@dataclass(frozen=True)
class Obligation:
    """One proof obligation. `clause` is the name of the clause or promise to prove. `action` names the step, and is ""
    for initial states and for promises about states.
    """

    kind: Literal["initially", "preserved", "implied", "possible"]
    clause: str
    action: str
    given: tuple[Term, ...]
    build: Callable[[], Term]
    """Returns the goal. Its terms take about as long to build as to prove, so only those of a wanted goal are built."""
    near: tuple[Term, ...] = ()
    """The part of what is given that names the goal's own clause and the action."""
    sorts: tuple[Sort, ...] = ()

    @cached_property
    def goal(self) -> Term:
        """The formula that must follow from what is given."""
        return self.build()

    @property
    def name(self) -> str:
        return {
            "initially": f"initially: {self.clause}",
            "preserved": f"{self.action} preserves: {self.clause}",
            "possible": f"{self.action} is possible",
            "implied": f"{self.clause} over {self.action}" if self.action else f"implied: {self.clause}",
        }[self.kind]


@dataclass(frozen=True)
class ObligationResult:
    """The result of one proof obligation. `model` is the counterexample if the obligation failed."""

    obligation: Obligation
    answer: Answer
    seconds: float
    model: Term | None = None


def obligations(system: ProvedSystem) -> Iterator[Obligation]:
    now = Symbolic(system.relations)
    sorts = tuple(dict.fromkeys(sort for relation in system.relations for sort in relation.arguments))
    assumed = tuple(formula(now) for formula in system.background.values())
    clauses = {name: formula(now) for name, formula in system.clauses.items()}
    start = (*assumed, system.initially(now))
    for name, clause in clauses.items():
        yield Obligation("initially", name, "", start, partial(_same, clause), start, sorts)
    premises = {name: (*assumed, *(clauses[each] for each in system.premises(name))) for name in clauses}
    for action in system.actions:
        guard, after = step(system, now, action)
        for name, formula in system.clauses.items():
            goal = partial(formula, after)
            near = (*assumed, *(clauses[each] for each in (name, *system.hints.get(name, ()))), guard)
            yield Obligation("preserved", name, action.name, (*premises[name], guard), goal, near, sorts)
        reached = (*assumed, *clauses.values())
        yield Obligation("possible", "", action.name, reached, partial(_same, guard), sorts=sorts)
    for claim in system.claims:
        used = [clauses[name] for name in claim.by] or list(clauses.values())
        yield from (replace(each, sorts=sorts) for each in _implied(system, claim, now, (*assumed, *used)))


def _implied(system: ProvedSystem, claim: Claim, now: Symbolic, invariant: tuple[Term, ...]) -> Iterator[Obligation]:
    if claim.holds is not None:
        yield Obligation("implied", claim.promise, "", invariant, partial(claim.holds, now))
    if claim.step is not None:
        for action in system.actions:
            guard, after = step(system, now, action)
            goal = partial(claim.step, now, after)
            yield Obligation("implied", claim.promise, action.name, (*invariant, guard), goal)


def _same(term: Term) -> Term:
    return term


def step(system: ProvedSystem, now: Symbolic, action: Move) -> tuple[Term, Symbolic]:
    """Return the guard of an action and the state after the action, both for symbolic parameters."""
    parameters = [_parameter(action, place, each) for place, each in enumerate(action.parameters)]
    updates = action.updates(now, *parameters)
    return action.guard(now, *parameters), Symbolic(system.relations, updates, before=now)


def _parameter(action: Move, place: int, kind: Parameter) -> Term:
    name = f"{action.name} {place}"
    if isinstance(kind, TimesParameter):
        given = (symbol(Relation(f"{name} {number}", (sort,), "time")) for number, sort in enumerate(kind.sorts))
        return NewTimes(tuple(given), constant("time", name))
    if isinstance(kind, SetParameter):
        return symbol(Relation(name, kind.arguments))
    return constant(kind, name)


_proved: dict[tuple[frozenset[int], int], tuple[Term, ...]] = {}
"""Proofs from a few premises, by the identities of their terms. The terms are kept, so that z3 does not reuse these."""


def discharge(obligation: Obligation, steps: int = STEPS) -> ObligationResult:
    """Ask z3 to prove an obligation: no state satisfies the assumptions but violates the goal.

    Most proofs need few clauses of the invariant, so most attempts assume only the clause to prove and the guard of the
    action. One third of the attempts assume the whole invariant. The duration of a proof varies randomly, so many short
    attempts are better than one long attempt. After three attempts, z3 searches for a small counterexample, which is
    easy to read.
    """
    began = time.perf_counter()
    if obligation.kind == "possible":
        state = small_state((*obligation.given, obligation.goal), obligation.sorts)
        seconds = time.perf_counter() - began
        return ObligationResult(obligation, "UNDETERMINED" if state is None else "PROVED", seconds)
    near = obligation.near or obligation.given
    key = frozenset(term.get_id() for term in near), obligation.goal.get_id()
    if key in _proved or any(obligation.goal.eq(term) for term in obligation.given):
        return ObligationResult(obligation, "PROVED", time.perf_counter() - began)
    for place, attempt in enumerate(_attempts(obligation, near, steps)):
        answer, model = attempt.ask(obligation.goal)
        if answer == "unsat":
            if attempt.given is near:
                _proved[key] = (*near, obligation.goal)
            return ObligationResult(obligation, "PROVED", time.perf_counter() - began)
        if place == SHORT:
            model = small_state((*obligation.given, no(obligation.goal)), obligation.sorts) or model
        if model is not None and (place == SHORT or attempt.given is obligation.given):
            return ObligationResult(obligation, "FAILED", time.perf_counter() - began, model)
    return ObligationResult(obligation, "UNDETERMINED", time.perf_counter() - began)


@dataclass(frozen=True)
class ProofAttempt:
    """One attempt to discharge an obligation, with the settings of z3. If `models` is True, z3 also searches for models
    of quantified formulas. `steps` is the number of steps after which z3 gives up.
    """

    given: tuple[Term, ...]
    steps: int
    models: bool = False
    seed: int = 0
    arithmetic: int = 6
    """The number of z3's solver for arithmetic."""

    def ask(self, goal: Term) -> tuple[str, Term]:
        """Return z3's answer ("sat", "unsat" or "unknown") and, if the answer is "sat", a model; otherwise None."""
        import z3

        solver = z3.Solver()
        solver.set("rlimit", self.steps)
        solver.set("smt.mbqi", self.models)
        solver.set("smt.random_seed", self.seed)
        solver.set("smt.arith.solver", self.arithmetic)
        solver.add(*self.given, no(goal))
        answer = solver.check()
        return str(answer), solver.model() if answer == z3.sat else None


def _attempts(obligation: Obligation, near: tuple[Term, ...], steps: int) -> Iterator[ProofAttempt]:
    given, short = obligation.given, steps // 40
    yield from (ProofAttempt(near, short), ProofAttempt(near, short, models=True), ProofAttempt(given, short))
    for seed in range(1, 9):
        yield from (ProofAttempt(near, short, seed=seed), ProofAttempt(near, short, seed=seed, arithmetic=2))
        yield ProofAttempt(given, short, models=seed % 2 == 0, seed=seed)
    yield ProofAttempt(given, steps, models=True)
    yield from (ProofAttempt(near, steps, seed=seed, arithmetic=2) for seed in (1, 2))


SHORT: Final = 2
"""The number of short attempts before the search for a small counterexample."""


def small_state(terms: tuple[Term, ...], sorts: tuple[Sort, ...]) -> Term:
    """Return a state with at most three elements of each sort that satisfies the terms, or None if z3 finds none."""
    import z3

    for most in (1, 2, 3):
        solver = z3.Solver()
        solver.set("rlimit", STEPS // 4)
        solver.add(*Universe(sorts, most).given(terms))
        if solver.check() == z3.sat:
            return solver.model()
    return None
