"""Encodes each state of a model as one number.

The values of each component (state variable) are numbered in the order in which they first occur. A state is one
integer that contains the number of each component's value, with `WIDTH` bits for each component. A state can be decoded
only by the `Coding` that encoded it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

State = int
WIDTH = 24
"""Bits of a field. Memory is full long before a component takes 2^24 values."""
_FIELD = (1 << WIDTH) - 1


class UndeclaredRead(LookupError):
    """Raised if a function reads a component (state variable) without declaring it (see `Coding.mask_undeclared`)."""


class Coding:
    """Assigns a number to each value of each component (state variable).

    `first` maps each component to its initial value, which is encoded as 0. `alike` lists groups of components whose
    values have the same type, such as all writers. Components of one group that have equal initial values share one
    encoding, as symmetry reduction requires.
    """

    def __init__(self, first: Mapping[str, Any], alike: Iterable[Sequence[str]] = ()) -> None:
        self.names = tuple(first)
        self.place = {name: position for position, name in enumerate(self.names)}
        leader: dict[str, str] = {}
        for names in alike:
            leader.update((name, names[0]) for name in names if first[name] == first[names[0]])
        tables: dict[str, tuple[list[Any], dict[Any, int]]] = {}
        self._tables = [tables.setdefault(leader.get(n, n), ([value], {value: 0})) for n, value in first.items()]

    def number(self, position: int, value: Any) -> int:
        """Return the number that encodes a component's value. A value that has not occurred before gets the next free
        number.
        """
        values, numbers = self._tables[position]
        number = numbers.get(value)
        if number is None:
            number = numbers[value] = len(values)
            if number >= _FIELD:
                raise OverflowError(f"{self.names[position]} takes more than {_FIELD:,} values")
            values.append(value)
        return number

    def value(self, state: State, position: int) -> Any:
        """Return the value of the component at `position`. Raises `UndeclaredRead` if the component is masked (see
        `mask_undeclared`).
        """
        try:
            return self._tables[position][0][state >> position * WIDTH & _FIELD]
        except IndexError:
            name = self.names[position]
            raise UndeclaredRead(f"{name} is masked: a function that reads it must declare it") from None

    def read(self, state: State, positions: Iterable[int]) -> list[Any]:
        try:
            return [self._tables[p][0][state >> p * WIDTH & _FIELD] for p in positions]
        except IndexError:
            return [self.value(state, p) for p in positions]

    def mask(self, positions: Iterable[int]) -> int:
        """Return the bit mask of the components at `positions`."""
        return sum(_FIELD << position * WIDTH for position in set(positions))

    def put(self, state: State, position: int, value: Any) -> State:
        new, old = self.number(position, value), state >> position * WIDTH & _FIELD
        return state + (new - old << position * WIDTH)

    def mask_undeclared(self, names: Iterable[str]) -> State:
        """Return a bit mask of all components except those in `names`. In a state combined with this mask, reading any
        of these components raises `UndeclaredRead`.
        """
        return self.mask(range(len(self.names))) - self.mask(self.place[name] for name in names)

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """Return a function that projects a state onto the components `names`."""
        return self.mask(self.place[name] for name in names).__and__

    def values(self, position: int) -> Sequence[Any]:
        """Return every value that the component at `position` has had so far, indexed by the value's number."""
        return self._tables[position][0]

    def dump(self) -> list[list[Any]]:
        """Return the values that each component has had, in the order of their numbers, for storage in a search
        checkpoint.
        """
        return [values for values, _ in self._tables]

    def load(self, dumped: Sequence[Sequence[Any]]) -> None:
        """Load values saved with `dump` by another `Coding` that has the same components."""
        for (values, numbers), others in zip(self._tables, dumped, strict=True):
            values[:] = others
            numbers.clear()
            numbers.update((value, number) for number, value in enumerate(values))
