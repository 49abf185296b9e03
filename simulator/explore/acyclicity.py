"""Whether a run may come back to where it was, told by what rows were found to do, without looking at states again.

In a cycle every component comes back to what it held. A component whose values only ever follow each other onwards
cannot, so that no row which always changes it is a step of a cycle. Such rows are left out, and what is left is looked
at again: a compactor goes from idle to idle, but it publishes on the way, and what is published only grows. Where no
row is left there is no cycle. (Liveness asks for this: `progress.judge_cycles` goes through all states otherwise.)

Under symmetry a cycle is one up to names. Gone through several times it closes by name as well, so that the same
follows from values without names, all actors that may be exchanged taken together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from nbcc.model.machine.state import WIDTH, Coding
from nbcc.model.machine.stepper import Compiled

from .renaming import Renaming, renamed
from .space import Space

_Edges = set[tuple[Any, Any]]
"""Values of one component, and what they were changed to."""
_FIELD = (1 << WIDTH) - 1


def may_cycle(space: Space) -> bool:
    """False is a proof that no run comes back; True: one may, or nobody knows."""
    coding = getattr(space.system, "coding", None)
    if coding is None:
        return True
    names = _Nameless(coding, space.exchangeable)
    rows = [names.changes(compiled) for compiled in space.rows() if any(compiled.memo.values())]
    while rows:
        written = {name for row in rows for name in row}
        onwards = {name for name in written if _only_onwards(row[name] for row in rows if name in row)}
        left = [row for row in rows if not any(_always_changed(row[name]) for name in row.keys() & onwards)]
        if len(left) == len(rows):
            return True
        rows = left
    return False


def _always_changed(edges: _Edges) -> bool:
    return all(old != new for old, new in edges)


def _only_onwards(several: Iterable[_Edges]) -> bool:
    following: dict[Any, list[Any]] = {}
    for old, new in set().union(*several):
        if old != new:
            following.setdefault(old, []).append(new)
    try:
        TopologicalSorter(following).prepare()
    except CycleError:
        return False
    return True


class _Nameless:
    """What rows do to components, by numbers that are equal where values are equal up to exchangeable names."""

    def __init__(self, coding: Coding, exchangeable: Iterable[Iterable[str]]) -> None:
        self.coding = coding
        self.first: Renaming = {name: first for first, *others in exchangeable for name in others}
        self._numbers: dict[tuple[int, int], int] = {}
        self._values: dict[tuple[str, Any], int] = {}

    def changes(self, compiled: Compiled) -> Mapping[str, _Edges]:
        """What a row has done to each component that it writes."""
        found = [(bits, bits + change) for bits, moves in compiled.memo.items() for _, change in moves]
        changes: dict[str, _Edges] = {}
        for place in compiled.writes:
            shift, name = place * WIDTH, self.coding.names[place]
            edges = {(old >> shift & _FIELD, new >> shift & _FIELD) for old, new in found}
            if self.first:
                edges = {(self._number(place, old), self._number(place, new)) for old, new in edges}
            changes[self.first.get(name, name)] = edges
        return changes

    def _number(self, place: int, number: int) -> int:
        at = (place, number)
        if at not in self._numbers:
            name, value = self.coding.names[place], self.coding.values(place)[number]
            key = (self.first.get(name, name), renamed(value, self.first))
            self._numbers[at] = self._values.setdefault(key, len(self._values))
        return self._numbers[at]
