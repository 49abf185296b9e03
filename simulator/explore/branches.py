"""One search by several processes that never meet: what has parted two runs for good keeps their states apart.

A system may name a component in which something is settled once and stays (`parting`): of the table's model, what was
published first. States in which it is open are the stem, which is small and which every process walks for itself. Each
of the others belongs to one branch, is reached from states of the stem and of its branch alone, and is looked at by the
search of that branch and no other: nothing is handed from one process to another while they run. Together they are what
one finds, but which of several shortest counterexamples is told may differ.

That no branch leads into another one is not taken for granted: each search looks at all its states (`strayed`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from .progress import Ends
from .search import Bounds, Progress, Search
from .space import Space
from .watch import Watchers


class Part(NamedTuple):
    """The states of a search that went one of these ways. `exchangeable`: the actors of whom it is known already that
    they may be exchanged, those together that may with each other; None: that is to be found out."""

    ways: tuple[Hashable, ...]
    exchangeable: tuple[tuple[str, ...], ...] | None = None

    def dealt(self, count: int) -> list[Part]:
        """At most so many parts of it. Whoever gets the branch that begins first, which is the largest as a rule, gets
        the last one of the next round."""
        there_and_back = [*range(count), *reversed(range(count))]
        takers = [there_and_back[place % len(there_and_back)] for place in range(len(self.ways))]
        hands = [
            tuple(way for way, taker in zip(self.ways, takers, strict=True) if taker == each) for each in range(count)
        ]
        return [self._replace(ways=hand) for hand in hands if hand]


STEM = Part(())
"""The states in which runs have not parted yet, and the first ones of each branch."""


class Ways:
    """Which way the run went that leads to a state; None: it may still go each."""

    def __init__(self, system: Any) -> None:
        component, self.way_of = system.parting
        self.coding, self.place = system.coding, system.coding.place[component]
        self.bits = self.coding.mask((self.place,))
        self._known: dict[Any, Hashable] = {}

    def __call__(self, state: Any) -> Hashable:
        own = state & self.bits
        if own not in self._known:
            self._known[own] = self.way_of(self.coding.value(own, self.place))
        return self._known[own]

    def strayed(self, states: Sequence[Any], ways: Iterable[Hashable]) -> set[Hashable]:
        """The ways that these states went, other than these."""
        return {self(own) for own in set(map(self.bits.__and__, states))}.difference(ways)


class Stem(Search):
    """Goes no further than to the first states of each branch, but looks at those."""

    def __init__(self, space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None = None) -> None:
        self.ways = Ways(space.system)
        undivided = copy(space)
        undivided.successors = self._within(space.successors)
        super().__init__(undivided, watchers, bounds, progress)
        self.ends = _EndsWithin(undivided, watchers, self.ways)

    def _within(self, successors: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
        return lambda state: successors(state) if self.ways(state) is None else iter(())

    def branches(self) -> Part:
        """All of them, those first that begin first."""
        return Part(tuple(self.firsts()), tuple(map(tuple, self.space.exchangeable)))

    def firsts(self) -> Mapping[Hashable, Mapping[int, list[Any]]]:
        """The first states of each branch by way and level."""
        levels = array("q")
        found: dict[Hashable, dict[int, list[Any]]] = {}
        for state, parent in zip(self.states, self.parents, strict=True):
            levels.append(1 if parent < 0 else levels[parent] + 1)
            way = self.ways(state)
            if way is not None:
                found.setdefault(way, {}).setdefault(levels[-1], []).append(state)
        return found


class _EndsWithin(Ends):
    """Where a branch begins no run has ended."""

    def __init__(self, space: Space, watchers: Watchers, ways: Ways) -> None:
        super().__init__(space, watchers)
        self.ways = ways

    def see(self, number: int, state: Any) -> None:
        if self.ways(state) is None:
            super().see(number, state)


class Branches(Search):
    """All states of some branches. Their first ones were found, counted and judged by whoever walks the stem."""

    def __init__(
        self, space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None, ways: Sequence[Hashable]
    ) -> None:
        self.stem, self.ways = Stem(space, Watchers(space.system, ()), bounds), ways
        self.stem.run()
        super().__init__(space, watchers, bounds, progress)
        del self.states[:], self.parents[:]
        self.numbers.clear()
        firsts = self.stem.firsts()
        for way in ways:
            for level, states in firsts[way].items():
                self.coming.setdefault(level, []).extend(states)
        first = [state for states in self.coming.values() for state in states]
        self.at = self.generated = self.level_end = 0
        self.depth, self.known = min(self.coming) - 1, len(first)
        self.stands_for = -sum(map(space.stands_for, first))

    @property
    def distinct(self) -> int:
        return len(self.states) - self.known

    def run(self) -> str | None:
        stopped = super().run()
        if went := self.stem.ways.strayed(self.states, self.ways):
            raise AssertionError(f"runs that parted have met: {self.ways} lead to {went}")
        return stopped

    def chain(self, number: int) -> list[Any]:
        own = super().chain(number)
        return [*self.stem.chain(self.stem.numbers[own[0]]), *own[1:]]


def begin(space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None, part: Part | None) -> Search:
    """The search of everything (None), of the stem, or of some branches; each is still to be run."""
    if part is None:
        return Search(space, watchers, bounds, progress)
    if part == STEM:
        return Stem(space, watchers, bounds, progress)
    return Branches(space, watchers, bounds, progress, part.ways)
