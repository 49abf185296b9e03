"""What sees a generated mutant: a promise, the size of a world, a weaker choice, a world of its own, the engine."""

from __future__ import annotations

import signal
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import CANARY, PROMISES
from nbcc.model.protocol import choices

from .. import specs
from ..explore import Result, Verdict, explore
from ..mutants import forget
from ..verdicts.bound import bound_of, sentence
from ..verdicts.kills import accepted, small_worlds
from .generated import Generated
from .reached import Reached, running
from .source import modules

ROOM: Final = 3
"""A mutant may make a world so many times as large; then the search is left, and its size is what gives it away."""
LOOKED_FURTHER: Final = 700
"""States of the worlds in which a mutant that its sizes have given away is still held against the promises."""
FEW: Final = 3_000
"""States of a world of specs/worlds in which a mutant is hunted, too."""
MORE: Final = 9_000
"""States of those that are searched one by one for a mutant that outlives them all: restores, replaces, late files."""
CHECKED: Final = 60
"""Histories of a check."""
ENOUGH: Final = 10
"""Seconds of processor time for a search beyond ten times what it takes in the model as it is: some loop for ever."""


class Fate(NamedTuple):
    """What became of a mutant: `by` is a promise, or error, deadlock, sizes, setting, world, check; '' if
    it lives."""

    by: str
    how: str


LIVES: Final = Fate("", "lives")


def hunt(mutant: Generated, check: bool = True) -> Fate:
    """The first that sees the mutant. `check`: at last play it against the engine, which takes some seconds.

    What the model shows as it is was found, and is remembered, outside the mutant.
    """
    grown: list[Fate] = []
    for default, some in _batches():
        if grown and not default:
            break
        # An action is in the table or not: nobody need search for that.
        action = mutant.place.action if mutant.place else ""
        able = [case for case in some if not action or action in _actions(case)]
        found = {case: right for case in able if (right := _expected(case)).reached.holds(mutant)}
        expected = dict(sorted(found.items(), key=lambda each: each[1].sizes))
        with mutant.applied():
            try:
                if fate := next(_seen(expected, grown), None):
                    return fate
            except Exception as error:  # whatever the mutant does wrong, it was seen
                return Fate("error", type(error).__name__)
    if grown:
        return grown[0]
    with mutant.applied():
        return _checked() if check else LIVES


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


class Case(NamedTuple):
    """A small world, by its number, under one weaker choice of the protocol, or none; or a world of specs by name."""

    world: int | str
    field: str = ""
    value: str = ""

    @property
    def given(self) -> World:
        return specs.world(self.world) if isinstance(self.world, str) else small_worlds()[self.world]

    @property
    def own(self) -> str:
        """What sets it apart from the ladder under the default protocol."""
        return self.world if isinstance(self.world, str) else f"{self.field}={self.value}" if self.field else ""

    def model(self) -> Model:
        return Model(self.given, Protocol.from_mapping({self.field: self.value}) if self.field else Protocol())

    def search(self, most: int | None = None) -> Result:
        return explore(self.model(), list(PROMISES.values()), canary=CANARY, max_states=most)


def _batches() -> Iterator[tuple[bool, tuple[Case, ...]]]:
    """Cases that are searched together, and first searched in the model as it is, each with whether the protocol is the
    default: few at a time, for most mutants do not outlive the first of them."""
    small, default = len(_default_cases()) // 3, _default_cases()
    yield True, default[:small]
    for cases, size in ((default[small:], 3), (_weaker_cases(), 12), (_named_cases(0, FEW), 8)):
        for first in range(0, len(cases), size):
            yield not cases[first].own, cases[first : first + size]
    for case in _named_cases(FEW, MORE):
        yield False, (case,)


@cache
def _default_cases() -> tuple[Case, ...]:
    """The default protocol in every small world."""
    return tuple(Case(number) for number in range(len(small_worlds())))


@cache
def _weaker_cases() -> tuple[Case, ...]:
    """Weaker choices, one at a time, where they first break something, and in the world of the demo."""
    worlds = [bound_of(world) for world in small_worlds()]
    demo = worlds.index(bound_of(specs.world("demo")))
    found = []
    for field, values in choices().items():
        for value in values[1:]:
            mine = [kill.bound for kill in accepted() if kill.mutant == f"{field}={value}"]
            first = [number for number, bound in enumerate(worlds) if bound in mine][:1]
            found += [Case(number, field, value) for number in dict.fromkeys([*first, demo])]
    return tuple(found)


@cache
def _named_cases(least: int, most: int) -> tuple[Case, ...]:
    """The worlds of specs/worlds of more than `least` states and no more than `most`: conflicts, copies on write,
    services that die."""
    sizes = tomllib.loads((files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8"))["worlds"]
    few = [name for name, pinned in sizes.items() if least < pinned["distinct"] <= most and specs.has_table(name)]
    return tuple(Case(name) for name in sorted(few, key=lambda name: int(sizes[name]["distinct"])))


class Expected(NamedTuple):
    """What the model as it is shows in a case, what of it is reached there, in how many seconds of the processor."""

    shown: Shown
    reached: Reached
    seconds: float

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.shown.sizes


class Shown(NamedTuple):
    """What a search finds."""

    sizes: tuple[int, int, int]
    broken: dict[str, int | None]
    deadlock: bool


@cache
def _actions(case: Case) -> frozenset[str]:
    return frozenset(row.action for row in case.model().table_of_rows)


@cache
def _expected(case: Case) -> Expected:
    began = time.process_time()
    forget()  # what somebody remembers, nobody runs
    with running(str(sys.modules[f"nbcc.model.{name}"].__file__) for name in modules()) as lines:
        shown = _shown(case.search())
    return Expected(shown, Reached(_actions(case), frozenset(lines)), time.process_time() - began)


def _shown(result: Result) -> Shown:
    broken = {name: each.steps for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED}
    return Shown((result.distinct, result.generated, result.depth), broken, result.deadlock is not None)


def _seen(expected: Mapping[Case, Expected], grown: list[Fate]) -> Iterator[Fate]:
    """Fates as they are found; a world of another size goes to `grown`, for what a promise says is worth more."""
    for case, right in expected.items():
        if grown and right.sizes[0] > LOOKED_FURTHER:
            return
        with _ending(ENOUGH + 10 * right.seconds):
            result = case.search(right.sizes[0] * ROOM + 100)
        shown, where = _shown(result), sentence(bound_of(case.given))
        if case.own and (shown != right.shown or result.stopped):
            yield Fate("world" if isinstance(case.world, str) else "setting", f"{case.own} in {where}")
        elif shown.broken and not case.own:
            name, steps = next(iter(shown.broken.items()))
            yield Fate(name, f"{steps} steps of {where}")
        elif shown.deadlock > right.shown.deadlock:
            yield Fate("deadlock", where)
        elif result.stopped or shown.sizes != right.sizes:
            grown.append(Fate("sizes", f"{shown.sizes[0]:,} states of {where}, not {right.sizes[0]:,}"))


def _checked() -> Fate:
    from ..crosscheck.check import Setting, run
    from ..systems.registry import factory

    try:
        report: Any = run(Setting(factory("engine"), readers=()), examples=CHECKED, seed=0, shrinks=False)
    except Exception as error:  # the model fails where the engine goes on
        return Fate("check", type(error).__name__)
    return LIVES if report.found is None else Fate("check", "the engine disagrees")
