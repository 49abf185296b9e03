"""One search by several processes that never meet: what has parted two runs for good keeps their states apart.

A system may name a component in which something is settled once and stays (`parting`): of the table's model, what was
published first. States in which it is open are the stem, which is small and which every process walks for itself. Each
of the others belongs to one branch, is reached from states of the stem and of its branch alone, and is looked at by the
search of that branch and no other: nothing is handed from one to another while they run. Together they are what one
process finds, but which of several shortest counterexamples is told may differ.

That no branch leads into another one is not taken for granted: each search looks at all its states (`strayed`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from .progress import Ends
from .search import Bounds, Progress, Search
from .space import Space
from .watch import Watchers

STEM = "stem"
"""Instead of a branch: the states in which runs have not parted yet, and the first ones of each branch."""


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

    def strayed(self, states: Sequence[Any], way: Hashable) -> set[Hashable]:
        """The ways that these states went, other than this one."""
        return {self(own) for own in set(map(self.bits.__and__, states))} - {way}


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

    def branches(self) -> Mapping[Hashable, Mapping[int, list[Any]]]:
        """The first states of each branch by level, those branches first that begin first."""
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


class Branch(Search):
    """All states of one branch. Its first ones were found, counted and judged by whoever walks the stem."""

    def __init__(
        self, space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None, way: Hashable
    ) -> None:
        self.stem, self.way = Stem(space, Watchers(space.system, ()), bounds), way
        self.stem.run()
        first = self.stem.branches()[way]
        super().__init__(space, watchers, bounds, progress)
        del self.states[:], self.parents[:]
        self.numbers.clear()
        self.at = self.generated = self.level_end = 0
        self.depth, self.coming = min(first) - 1, dict(first)
        self.known = sum(map(len, first.values()))
        self.stands_for = -sum(space.stands_for(state) for states in first.values() for state in states)

    @property
    def distinct(self) -> int:
        return len(self.states) - self.known

    def run(self) -> str | None:
        stopped = super().run()
        if went := self.stem.ways.strayed(self.states, self.way):
            raise AssertionError(f"runs that parted have met: {self.way} leads to {', '.join(map(str, went))}")
        return stopped

    def chain(self, number: int) -> list[Any]:
        own = super().chain(number)
        return [*self.stem.chain(self.stem.numbers[own[0]]), *own[1:]]


def begin(
    space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None, branch: Hashable | None
) -> Search:
    """The search of everything (None), of the stem, or of one branch; each is still to be run."""
    if branch is None:
        return Search(space, watchers, bounds, progress)
    if branch == STEM:
        return Stem(space, watchers, bounds, progress)
    return Branch(space, watchers, bounds, progress, branch)
