"""Renames actors in values, states and steps.

A renaming permutes the components (state variables) of actors, and replaces actor names in the values of all
components.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import inf
from typing import Any

from nbcc.model import State, Step
from nbcc.model.machine import TransitionSystem
from nbcc.model.machine.state import WIDTH

Renaming = Mapping[str, str]
Order = tuple[tuple[str, ...], ...]
"""Names in order; those of one tuple have the same place."""
_Path = tuple[float, ...]
"""The path to a part of a value of nested tuples."""
_Field = tuple[int, int, int, dict[State, State]]
"""The old and new place of a component, its mask, and the memo of its renamed values."""


def renamed(value: Any, names: Renaming) -> Any:
    """Return a value with actors renamed at any depth of nested tuples and sets."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        inside = [renamed(part, names) for part in value]
        return type(value)._make(inside) if hasattr(value, "_make") else tuple(inside)
    if isinstance(value, frozenset):
        return frozenset(renamed(part, names) for part in value)
    return value


class InOrder:
    """Maps a value to the actor names that it contains, in order of first occurrence. Names in the same set form one
    group, because a set has no order.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._known: dict[Any, Mapping[str, _Path]] = {}

    def __call__(self, value: Any) -> Order:
        where = self._where(value)
        return tuple(tuple(those) for _, those in groupby(sorted(where, key=where.__getitem__), key=where.__getitem__))

    def _where(self, value: Any) -> Mapping[str, _Path]:
        if not isinstance(value, tuple | frozenset):
            return {value: ()} if value in self.names else {}
        known = self._known.get(value)
        if known is None:
            found: dict[str, _Path] = {}
            for place, part in enumerate(value):
                at = place if isinstance(value, tuple) else 0
                for name, path in self._where(part).items():
                    found[name] = min((at, *path), found.get(name, (inf,)))
            known = self._known[value] = found
        return known


def renamed_state(model: TransitionSystem, state: State, names: Renaming) -> State:
    """Return a state with renamed actors: the actors' components are permuted, and names in all values are replaced."""
    coding, after = model.coding, 0
    for position, name in enumerate(coding.names):
        after = coding.put(after, coding.place[names.get(name, name)], renamed(coding.value(state, position), names))
    return after


def renamed_step(step: Step, names: Renaming) -> Step:
    return Step(names.get(step.actor, step.actor), step.action, renamed(step.args, names))


class Image:
    """Applies a renaming of actors to states, and caches the results for each component."""

    def __init__(
        self, model: TransitionSystem, names: Renaming, own: Sequence[int], others: Sequence[int]
    ) -> None:
        self.coding, self.names = model.coding, {old: new for old, new in names.items() if old != new}
        # The components of actors change places and may name other actors; other components keep their places.
        self.own = [self._field(old, self._moved(old)) for old in own]
        self.others = [self._field(place, place) for place in others]
        self._parts: dict[tuple[type, Any], Any] = {}
        """Part of a tuple -> its image: one published instant is part of many values."""

    def _renamed(self, value: Any) -> Any:
        if type(value) is not tuple:
            return renamed(value, self.names)
        known, found = self._parts, []
        for part in value:
            key = (type(part), part)  # values of different types may be equal
            if key not in known:
                known[key] = renamed(part, self.names)
            found.append(known[key])
        return tuple(found)

    def _moved(self, place: int) -> int:
        name = self.coding.names[place]
        return self.coding.place[self.names.get(name, name)]

    def _field(self, old: int, new: int) -> _Field:
        return old, new, self.coding.mask((old,)), {}

    def of_own(self, bits: State) -> State:
        """Return the part of a state that contains the components of exchangeable actors, renamed."""
        return self._of(bits, self.own) if self.names else bits

    def of_others(self, bits: State) -> State:
        """Return the part of a state that contains all other components, renamed."""
        return self._of(bits, self.others) if self.names else bits

    def _of(self, bits: State, fields: Sequence[_Field]) -> State:
        after = 0
        for old, new, mask, memo in fields:
            part = bits & mask
            image = memo.get(part)
            if image is None:
                value = self._renamed(self.coding.value(part, old))
                image = memo[part] = self.coding.number(new, value) << new * WIDTH
            after += image
        return after
