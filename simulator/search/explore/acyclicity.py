"""Proves acyclicity (no run returns to an earlier state), using only the transitions that a search has evaluated.

Some components (state variables) never return to an earlier value: for example, the set of published instants only
grows. A transition that always changes such a component is not on any cycle. The proof removes these transitions and
repeats the argument for the others. If it removes all transitions, the state graph has no cycle; otherwise,
`lasso.find_lasso` must search the states for cycles.

Under symmetry reduction, a cycle of canonical states may represent a run between two states that differ in the names of
exchangeable actors. Such a run can be repeated until the names are the same again. Therefore, the proof treats values
that differ only in these names as equal.
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
"""The changes of one component: pairs of an old and a new value."""
_FIELD = (1 << WIDTH) - 1


def may_cycle(space: Space) -> bool:
    """Return False if it is proven that no run returns to an earlier state, otherwise True."""
    if space.coding is None:
        return True
    names = _WithoutNames(space.coding, space.exchangeable)
    rows = [names.changes(compiled) for compiled in space.rows() if any(compiled.memo.values())]
    while rows:
        written = {name for row in rows for name in row}
        never_returning = {name for name in written if _never_returns(row[name] for row in rows if name in row)}
        left = [row for row in rows if not any(_always_changed(row[name]) for name in row.keys() & never_returning)]
        if len(left) == len(rows):
            return True
        rows = left
    return False


def _always_changed(edges: _Edges) -> bool:
    return all(old != new for old, new in edges)


def _never_returns(several: Iterable[_Edges]) -> bool:
    following: dict[Any, list[Any]] = {}
    for old, new in set().union(*several):
        if old != new:
            following.setdefault(old, []).append(new)
    try:
        TopologicalSorter(following).prepare()
    except CycleError:
        return False
    return True


class _WithoutNames:
    """Collects how transitions change the value of each component. Values that differ only in the names of exchangeable
    actors are treated as equal.
    """

    def __init__(self, coding: Coding, exchangeable: Iterable[Iterable[str]]) -> None:
        self.coding = coding
        self.first: Renaming = {name: first for first, *others in exchangeable for name in others}
        self._numbers: dict[tuple[int, int], int] = {}
        self._values: dict[tuple[str, Any], int] = {}

    def changes(self, compiled: Compiled) -> Mapping[str, _Edges]:
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
