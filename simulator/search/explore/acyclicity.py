"""Proves acyclicity (no run returns to an earlier state), using only the transitions that a search has evaluated.

Some components (state variables) never return to an earlier value: for example, the set of published instants only
grows. A transition that always changes such a component is not on any cycle. The proof removes these transitions and
repeats the argument for the others. If it removes all transitions, the state graph has no cycle; otherwise,
`lasso.find_lasso` must search the states for cycles.

A component that none of the remaining transitions writes is constant on every cycle. The proof then considers each of
its values separately. For example, a compactor resumes a plan only while the plan is pending, and gives way only when
the plan is completed. Among states with equal published instants, it cannot do both.

Under symmetry reduction, a cycle of canonical states may represent a run between two states that differ in the names of
exchangeable actors. Such a run can be repeated until the names are the same again. Therefore, the proof treats values
that differ only in these names as equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any

from nbcc.model.machine.state import WIDTH, Coding
from nbcc.model.machine.stepper import Compiled

from .renaming import Renaming, renamed
from .space import Space

_Edges = set[tuple[Any, Any]]
"""The changes of one component: pairs of an old and a new value."""
_Changes = Mapping[str, Mapping[int | None, _Edges]]
"""The changes of each component, by the value of a constant component; None: for each of its values."""
_Row = tuple[Compiled, _Changes]
_FIELD = (1 << WIDTH) - 1


def may_cycle(space: Space) -> bool:
    """Return False if it is proven that no run returns to an earlier state, otherwise True."""
    # Without declared transitions there is nothing to argue about, so the states are searched for cycles.
    if space.coding is None:
        return True
    names = _WithoutNames(space.coding, space.exchangeable)
    left = _on_cycles(names, [compiled for compiled in space.rows() if any(compiled.memo.values())], None)
    while left:
        smaller = (_on_cycles(names, left, place) for place in names.constants(left))
        # One removal is enough: with fewer transitions other components become constant, so the argument starts again.
        found = next((rows for rows in smaller if len(rows) < len(left)), left)
        if found is left:
            return True
        left = found
    return False


def _on_cycles(names: _WithoutNames, compiled: Iterable[Compiled], constant: int | None) -> list[Compiled]:
    """Return the transitions that may be on a cycle on which the component at the place `constant` keeps its value."""
    rows: list[_Row] = [(each, names.changes(each, constant)) for each in compiled]
    while True:
        written = {name for _, changes in rows for name in changes}
        by_name = {name: [changes[name] for _, changes in rows if name in changes] for name in written}
        never_returning = {name for name, several in by_name.items() if _never_returns(several)}
        left = [
            row for row in rows if not any(_always_changed(row[1][name]) for name in row[1].keys() & never_returning)
        ]
        if len(left) == len(rows):
            return [each for each, _ in left]
        rows = left


def _always_changed(edges: Mapping[int | None, _Edges]) -> bool:
    return all(old != new for some in edges.values() for old, new in some)


def _never_returns(several: Sequence[Mapping[int | None, _Edges]]) -> bool:
    by_value: dict[int | None, _Edges] = {None: set()}
    for edges in several:
        for value, some in edges.items():
            by_value.setdefault(value, set()).update(some)
    # Many values of the constant component allow the same changes.
    return all(map(_is_acyclic, {frozenset(some | by_value[None]) for some in by_value.values()}))


def _is_acyclic(edges: Iterable[tuple[Any, Any]]) -> bool:
    following: dict[Any, list[Any]] = {}
    for old, new in edges:
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

    def __init__(self, coding: Coding, exchangeable: Sequence[Sequence[str]]) -> None:
        self.coding = coding
        self.exchangeable = {coding.place[name] for name in chain.from_iterable(exchangeable)}
        self.first: Renaming = {name: first for first, *others in exchangeable for name in others}
        self._numbers: dict[tuple[int, int], int] = {}
        self._values: dict[tuple[str, Any], int] = {}

    def constants(self, rows: Iterable[Compiled]) -> list[int]:
        """Return the places of the components that several transitions read and none writes. Components of
        exchangeable actors are excluded: after an exchange, such a component is another actor's.
        """
        read = Counter(chain.from_iterable(row.reads for row in rows))
        excluded = {place for row in rows for place in row.writes} | self.exchangeable
        return [place for place, times in read.items() if times > 1 and place not in excluded]

    def changes(self, compiled: Compiled, constant: int | None) -> _Changes:
        """Return the changes that a transition makes, by the value of the component at the place `constant`."""
        by_value: dict[int | None, list[tuple[int, int]]] = {}
        for bits, moves in compiled.memo.items():
            value = None
            # A transition that does not read the component was evaluated once for all of its values.
            if constant in compiled.reads:
                value = self._number(constant, bits >> constant * WIDTH & _FIELD)
            by_value.setdefault(value, []).extend((bits, bits + change) for _, change in moves)
        changes: dict[str, dict[int | None, _Edges]] = {}
        for place in compiled.writes:
            name = self.coding.names[place]
            edges = changes.setdefault(self.first.get(name, name), {})
            for value, found in by_value.items():
                edges.setdefault(value, set()).update(self._edges(place, found))
        return changes

    def _edges(self, place: int, found: Iterable[tuple[int, int]]) -> _Edges:
        shift = place * WIDTH
        edges = {(old >> shift & _FIELD, new >> shift & _FIELD) for old, new in found}
        return {(self._number(place, old), self._number(place, new)) for old, new in edges} if self.first else edges

    def _number(self, place: int, number: int) -> int:
        at = (place, number)
        if at not in self._numbers:
            name, value = self.coding.names[place], self.coding.values(place)[number]
            key = (self.first.get(name, name), renamed(value, self.first))
            self._numbers[at] = self._values.setdefault(key, len(self._values))
        return self._numbers[at]
