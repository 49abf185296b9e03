"""Searches which generated mutants are killed: by a promise, the size of a world, another verdict, or the engine.

A case is first searched with the unchanged model, while probes (see `probes`) record which mutants would compute
another value. Only the recorded mutants are searched themselves. The search of any other mutant would equal the search
of the model.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from nbcc.model import Model
from nbcc.model.machine.stepper import Compiled
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator.explore import Result, Verdict, explore
from nbcc.simulator.mutants import forget

from . import source, transitions
from .cases import Case, cases
from .checks import CHECKS, EngineCheck
from .generated import Generated
from .probes import Probe

ROOM: Final = 3
"""A search stops when the mutant makes the world this many times as large; then the size kills it."""
PROMISES_UP_TO: Final = 700
"""States of the largest world in which a mutant that was killed by sizes is still searched for a broken promise."""
ENOUGH: Final = 10
"""Seconds of processor time that a search may take beyond ten times that of the model: some mutants never end."""

RUNNING: Final = ("machine.", "model.")
"""The modules that run transitions. A search decides about every mutant of them."""


class Fate(NamedTuple):
    """The fate of a mutant. `by` names what killed it: a promise, error, deadlock, sizes, protocol, world or check; ''
    if it survives.

    `differs` is the number of searches that the mutant survived although it computed another value. If `differs` is 0,
    the mutant is equivalent to the model in all searches.
    """

    by: str = ""
    how: str = "survives"
    differs: int = 0


SURVIVES: Final = Fate()


@dataclass
class Hunt:
    """Searches mutants in the cases. `fates` are the fates from an earlier run. `begin` maps each mutant to its first
    case in this run.
    """

    mutants: Mapping[str, Generated]
    fates: dict[str, Fate] = field(default_factory=dict)
    begin: Mapping[str, int] = field(default_factory=dict)

    def through(self, some: Iterable[Case] | None = None) -> Iterator[int]:
        """Run one case after another, and yield the number of cases that are done."""
        for number, case in enumerate(cases() if some is None else some):
            here = [name for name in self.mutants if self.begin.get(name, 0) <= number]
            if wanted := [name for name in here if self._wanted(name, case)]:
                self._case(case, wanted)
            yield number + 1

    def _wanted(self, name: str, case: Case) -> bool:
        """Return whether the mutant survives so far.

        A mutant that was killed by sizes may still break a promise in a small world.
        """
        by = self.fates.setdefault(name, SURVIVES).by
        return not by or (by == "sizes" and not case.own)

    def _case(self, case: Case, wanted: Collection[str]) -> None:
        baseline = baseline_of(case, wanted)
        for name in sorted(baseline.differing):
            before = self.fates[name]
            if before.by and baseline.figures.sizes[0] > PROMISES_UP_TO:
                continue
            found = killed(self.mutants[name], case, baseline)
            if found is None and not before.by:
                found = before._replace(differs=before.differs + 1)
            if found and (not before.by or found.by != "sizes"):
                self.fates[name] = found

    def check(self, some: Iterable[EngineCheck] = CHECKS) -> Iterator[int]:
        """Run the survivors against the engine, and yield the number of checks that are done."""
        for number, check in enumerate(some):
            probe = Probe([name for name in self.mutants if not self.fates[name].by])
            with source.probed(probe), transitions.probed(probe):
                assert (why := check.difference()) is None, f"without a mutant: {why} in {check.where}"
            for name in sorted(probe.differing):
                with self.mutants[name].applied():
                    why = check.difference()
                survives = self.fates[name]._replace(differs=self.fates[name].differs + 1)
                self.fates[name] = Fate("check", f"{why} in {check.where}") if why else survives
            yield number + 1


def hunt(mutant: Generated, check: bool = True, some: Iterable[Case] | None = None) -> Fate:
    """Return the fate of one mutant.

    With `check`, a mutant that survives all cases runs against the engine, which takes some seconds.
    """
    one = Hunt({mutant.name: mutant})
    for _ in one.through(some):
        if (found := one.fates[mutant.name]).by not in ("", "sizes"):
            return found
    if check and not one.fates[mutant.name].by:
        list(one.check())
    return one.fates[mutant.name]


class Figures(NamedTuple):
    """The figures of a search."""

    sizes: tuple[int, int, int]
    broken: dict[str, int | None]
    deadlock: bool


Values = list[list[Any]]
"""The values of every component, in the order in which a search meets them."""


class Evaluated(NamedTuple):
    """A transition: its place, the values of its own component for which it was evaluated, and its moves for each
    footprint.
    """

    place: tuple[object, ...]
    awake: list[bool]
    found: Mapping[int, Any]


class Baseline(NamedTuple):
    """The search of a case with the unchanged model.

    `differing` contains the mutants that compute another value anywhere. `judging` contains those mutants that compute
    another value outside of transitions. `seconds` is processor time.
    """

    figures: Figures
    differing: frozenset[str]
    judging: frozenset[str]
    values: Values
    transitions: tuple[Evaluated, ...]
    seconds: float


def baseline_of(case: Case, wanted: Collection[str]) -> Baseline:
    """Search a case, and return which of these mutants compute another value anywhere."""
    probe = Probe(wanted)
    with source.probed(probe), transitions.probed(probe):
        began, model = time.process_time(), case.model()
        building = probe.restart()
        values = values_of(model)  # evaluates every step, so that the search below evaluates no other
        moving = probe.restart()
        forget()
        figures = _figures(_searched(model))
        # `same_steps` compares transitions one by one, so it cannot see a change in the choice of the next one.
        running = {name for name in moving if name.startswith(RUNNING)}
        judging = probe.restart() | building | running
        evaluated = tuple(Evaluated(_place(each), _awake(each, values), each.memo) for each in model.stepper.rows)
    return Baseline(
        figures, frozenset(moving | judging), frozenset(judging), values, evaluated, time.process_time() - began
    )


def _searched(model: Model, most: int | None = None) -> Result:
    return explore(model, list(PROMISES.values()), canary=CANARY, max_states=most)


def _figures(result: Result) -> Figures:
    broken = {name: each.steps for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED}
    return Figures((result.distinct, result.generated, result.depth), broken, result.deadlock is not None)


def values_of(model: Model) -> Values:
    """Evaluate every step of every state, and return the values of all components."""
    states, known = [model.initial], {model.initial}
    for state in states:
        for _, after in model.successors(state):
            if after not in known:
                known.add(after)
                states.append(after)
    return [list(values) for values in model.coding.dump()]


def same_steps(model: Model, baseline: Baseline) -> bool:
    """Return whether the mutant's transitions do the same in every state of the model; then it has the same states.

    It suffices to evaluate them on the footprints of the model, because equal steps lead from equal states to equal
    states.
    """
    if [each[0] for each in model.coding.dump()] != [each[0] for each in baseline.values]:
        return False
    model.coding.load(baseline.values)
    mine = model.stepper.rows
    if [_place(each) for each in mine] != [evaluated.place for evaluated in baseline.transitions]:
        return False
    return all(
        _awake(row, baseline.values) == evaluated.awake
        and all(model.stepper.moves(row, at) == moves for at, moves in evaluated.found.items())
        for row, evaluated in zip(mine, baseline.transitions, strict=True)
    )


def _place(compiled: Compiled) -> tuple[object, ...]:
    return compiled.transition.action, compiled.transition.actor, compiled.own, compiled.writes, compiled.mask


def _awake(compiled: Compiled, values: Values) -> list[bool]:
    guards = compiled.transition.actor_guards
    return [all(guard.holds(value) for guard in guards) for value in values[compiled.own]]


def _moves_alike(case: Case, baseline: Baseline) -> bool:
    try:
        return same_steps(case.model(), baseline)
    except TimeoutError:
        raise
    except Exception:  # the search that follows fails as well, and reports it
        return False


def killed(mutant: Generated, case: Case, baseline: Baseline) -> Fate | None:
    """Return the fate of a mutant that is killed in a case; None if it survives."""
    with mutant.applied():
        try:
            with _time_limit(ENOUGH + 10 * baseline.seconds):
                if mutant.name not in baseline.judging and _moves_alike(case, baseline):
                    return None
                model = case.model()
                result = _searched(model, baseline.figures.sizes[0] * ROOM + 100)
                return _fate(_figures(result), baseline.figures, case, result.stopped is not None)
        except Exception as error:  # any error kills the mutant
            return Fate("error", f"{type(error).__name__} in {case.where}")


def _fate(figures: Figures, right: Figures, case: Case, stopped: bool) -> Fate | None:
    if case.own:
        return Fate(case.kind, case.where) if figures != right or stopped else None
    if figures.broken:
        name, steps = next(iter(figures.broken.items()))
        return Fate(name, f"{steps} steps of {case.where}")
    if figures.deadlock > right.deadlock:
        return Fate("deadlock", case.where)
    if stopped or figures.sizes != right.sizes:
        return Fate("sizes", f"{figures.sizes[0]:,} states of {case.where}, not {right.sizes[0]:,}")
    return None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after this much processor time; only in the main thread."""

    def over(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
