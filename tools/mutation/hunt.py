"""What sees a generated mutant: a promise, the size of a world, a weaker choice, a world of its own, the engine.

A case is searched once in the model as it is, with an eye on all mutants that live (see `probes`), and then once more
for each of them that gives another value anywhere in it. The searches of all others are the same search.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, NamedTuple

from nbcc.model import Model
from nbcc.model.machine.stepper import Compiled
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator.explore import Result, Verdict, explore
from nbcc.simulator.mutants import forget

from . import rows, source
from .cases import Case, Searched, cases
from .checks import CHECKS, Played
from .generated import Generated
from .probes import Probe

ROOM: Final = 3
"""A mutant may make a world so many times as large; then the search is left, and its size is what gives it away."""
LOOKED_FURTHER: Final = 700
"""States of the worlds in which a mutant that its sizes have given away is still held against the promises."""
ENOUGH: Final = 10
"""Seconds of processor time for a search beyond ten times what it takes in the model as it is: some loop for ever."""


class Fate(NamedTuple):
    """What became of a mutant. `by` is a promise, or error, deadlock, sizes, setting, world, check; '' if it lives.

    `differs`: in how many searches that saw nothing of it it gave another value somewhere; `moves`: in how many of
    these some state or step was another. None, and it is proven to be the same model there.
    """

    by: str = ""
    how: str = "lives"
    differs: int = 0
    moves: int = 0


LIVES: Final = Fate()


@dataclass
class Hunt:
    """Mutants on their way through the cases. `fates` of those that were hunted before; `begin`: for each mutant the
    number of the first case that it was not held against yet."""

    mutants: Mapping[str, Generated]
    fates: dict[str, Fate] = field(default_factory=dict)
    begin: Mapping[str, int] = field(default_factory=dict)

    def through(self, some: Iterable[Case] | None = None) -> Iterator[int]:
        """One case after the other; what is yielded is how many are done."""
        for number, case in enumerate(cases() if some is None else some):
            here = [name for name in self.mutants if self.begin.get(name, 0) <= number]
            if wanted := [name for name in here if self._wanted(name, case)]:
                self._case(case, wanted)
            yield number + 1

    def _wanted(self, name: str, case: Case) -> bool:
        """What has given it away by its size alone may still break a promise in a small world."""
        by = self.fates.setdefault(name, LIVES).by
        return not by or (by == "sizes" and not case.own)

    def _case(self, case: Case, wanted: Collection[str]) -> None:
        right = look(case, wanted)
        for name in sorted(right.differing):
            before = self.fates[name]
            if before.by and right.shown.sizes[0] > LOOKED_FURTHER:
                continue
            found, moved = seen(self.mutants[name], case, right)
            if found is None and not before.by:
                found = before._replace(differs=before.differs + 1, moves=before.moves + moved)
            if found and (not before.by or found.by != "sizes"):
                self.fates[name] = found

    def check(self, some: Iterable[Played] = CHECKS) -> Iterator[int]:
        """Those that live are played against the engine; what is yielded is how many checks are done."""
        for number, played in enumerate(some):
            probe = Probe([name for name in self.mutants if not self.fates[name].by])
            with source.probed(probe), rows.probed(probe):
                assert (why := played.disagrees()) is None, f"without any mutant: {why} in {played.where}"
            for name in sorted(probe.differing):
                with self.mutants[name].applied():
                    why = played.disagrees()
                lives = self.fates[name]._replace(differs=self.fates[name].differs + 1)
                self.fates[name] = Fate("check", f"{why} in {played.where}") if why else lives
            yield number + 1


def hunt(mutant: Generated, check: bool = True, some: Iterable[Case] | None = None) -> Fate:
    """The first that sees one mutant. `check`: at last play it against the engine, which takes some seconds."""
    one = Hunt({mutant.name: mutant})
    for _ in one.through(some):
        if (found := one.fates[mutant.name]).by not in ("", "sizes"):
            return found
    if check and not one.fates[mutant.name].by:
        list(one.check())
    return one.fates[mutant.name]


class Shown(NamedTuple):
    """What a search finds."""

    sizes: tuple[int, int, int]
    broken: dict[str, int | None]
    deadlock: bool


class Graph(NamedTuple):
    """Equal where every state and every step is the same, and found in the same order. `values`: of every component."""

    steps: str
    values: list[list[Any]]


class Kept(NamedTuple):
    """Of a row: whose it is and which bits it looks at and changes, for which values of its own component it is looked
    at, and what it found per footprint."""

    place: tuple[object, ...]
    awake: list[bool]
    found: Mapping[int, Any]


class Right(NamedTuple):
    """What the model as it is shows in a case, the graph of its steps and what its rows keep of it, and the seconds of
    the processor.

    `differing`: the mutants that give another value anywhere there; `judging`: those of them that do so not only in
    finding steps, but where the model is built, promises are judged and runs end.
    """

    shown: Shown
    differing: frozenset[str]
    judging: frozenset[str]
    graph: Graph
    rows: tuple[Kept, ...]
    seconds: float


def look(case: Searched, wanted: Collection[str]) -> Right:
    """Search a case, and see which of these mutants give another value anywhere."""
    probe = Probe(wanted)
    with source.probed(probe), rows.probed(probe):
        began, model = time.process_time(), case.model()
        building = probe.begin_anew()
        graph = graph_of(model)  # every step there is: what is judged below finds no other
        moving = probe.begin_anew()
        forget()
        shown = _shown(_searched(model))
        judging = probe.begin_anew() | building
        kept = tuple(Kept(_place(each), _awake(each, graph), each.memo) for each in model.stepper.rows)
    return Right(shown, frozenset(moving | judging), frozenset(judging), graph, kept, time.process_time() - began)


def _searched(model: Model, most: int | None = None) -> Result:
    return explore(model, list(PROMISES.values()), canary=CANARY, max_states=most)


def _shown(result: Result) -> Shown:
    broken = {name: each.steps for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED}
    return Shown((result.distinct, result.generated, result.depth), broken, result.deadlock is not None)


def graph_of(model: Model) -> Graph:
    """All states and steps."""
    digest, states, known = sha256(), [model.initial], {model.initial}
    for state in states:
        for step, after in model.successors(state):
            digest.update(f"{state} {step} {after}\n".encode())
            if after not in known:
                known.add(after)
                states.append(after)
    return Graph(digest.hexdigest(), [list(values) for values in model.coding.dump()])


def same_steps(model: Model, right: Right) -> bool:
    """Whether a mutant's rows do the same wherever the search of the model came to: then no state of its own is other.

    Its rows are given the footprints that those of the model were given, and no other: first there is the first state,
    and from states that are the same the same steps lead to states that are the same.
    """
    if [each[0] for each in model.coding.dump()] != [each[0] for each in right.graph.values]:
        return False
    model.coding.load(right.graph.values)
    mine = model.stepper.rows
    if [_place(each) for each in mine] != [kept.place for kept in right.rows]:
        return False
    return all(
        _awake(row, right.graph) == kept.awake
        and all(model.stepper.moves(row, at) == moves for at, moves in kept.found.items())
        for row, kept in zip(mine, right.rows, strict=True)
    )


def _place(compiled: Compiled) -> tuple[object, ...]:
    return compiled.transition.action, compiled.transition.actor, compiled.own, compiled.writes, compiled.mask


def _awake(compiled: Compiled, graph: Graph) -> list[bool]:
    guards = compiled.transition.actor_guards
    return [all(guard.holds(value) for guard in guards) for value in graph.values[compiled.own]]


def _moves_alike(case: Searched, right: Right) -> bool:
    try:
        return same_steps(case.model(), right)
    except TimeoutError:
        raise
    except Exception:  # the search will tell what is wrong
        return False


def seen(mutant: Generated, case: Searched, right: Right) -> tuple[Fate | None, bool]:
    """What sees a mutant in a case, and, where nothing does, whether any step is another."""
    with mutant.applied():
        try:
            with _ending(ENOUGH + 10 * right.seconds):
                if mutant.name not in right.judging and _moves_alike(case, right):
                    return None, False
                model = case.model()
                result = _searched(model, right.shown.sizes[0] * ROOM + 100)
                found = _fate(_shown(result), right.shown, case, result.stopped is not None)
                return found, found is None and graph_of(model) != right.graph
        except Exception as error:  # whatever the mutant does wrong, it was seen
            return Fate("error", f"{type(error).__name__} in {case.where}"), False


def _fate(shown: Shown, right: Shown, case: Searched, stopped: bool) -> Fate | None:
    if case.own:
        return Fate(case.kind, case.where) if shown != right or stopped else None
    if shown.broken:
        name, steps = next(iter(shown.broken.items()))
        return Fate(name, f"{steps} steps of {case.where}")
    if shown.deadlock > right.deadlock:
        return Fate("deadlock", case.where)
    if stopped or shown.sizes != right.sizes:
        return Fate("sizes", f"{shown.sizes[0]:,} states of {case.where}, not {right.sizes[0]:,}")
    return None


@contextmanager
def _ending(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside when this process has worked for so long; it must be its main thread."""

    def over(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
