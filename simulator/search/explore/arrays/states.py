"""The states of a search as rows of words, with the table that finds a row: some 30 bytes a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from nbcc.model.machine.state import Coding, State

from . import kernels
from .layout import Layout, Words

FULL: Final = 0.6
"""The share of a table that is taken when it doubles."""
ABOUT_TO_GROW: Final = 0.9
GROWTH: Final = 1.25
MOST: Final = (1 << 31) - 1
"""The numbers of states have 31 bits, so that a predecessor takes four bytes."""
BATCH: Final = 4096
"""Rows that are handled at once where each could be handled alone."""


def empty_table(rows: int) -> NDArray[np.uint32]:
    """Return a table without entries, with room for `rows`."""
    return np.zeros(1 << max(10, int(rows / FULL).bit_length()), dtype=np.uint32)


class Rows:
    """The states of a search in order of discovery, and the number of each state's predecessor."""

    def __init__(self, coding: Coding, states: Sequence[State], parents: Any) -> None:
        self.coding, self.layout, self.count = coding, Layout(coding), len(states)
        self.words: Words = self.layout.pack(states)
        self.parents = np.array(parents, dtype=np.int32)
        self.table = empty_table(self.count)
        kernels.fill(self.words, self.count, self.table)

    def reserve(self, more: int) -> None:
        """Make room for so many more states."""
        needed = self.count + more
        if needed > MOST:
            raise OverflowError(f"a search without reductions visits at most {MOST:,} states")
        if needed > len(self.words):
            size = int(needed * GROWTH)
            # In place: a copy would need both for a while.
            self.words.resize((size, self.layout.count), refcheck=False)
            self.parents.resize(size, refcheck=False)
        if needed > FULL * len(self.table):
            size, self.table = needed, empty_table(0)
            self.table = empty_table(size)
            kernels.fill(self.words, self.count, self.table)

    @property
    def growth(self) -> int:
        """The bytes that a table of twice the size needs, if the table is about to double, otherwise 0."""
        return 2 * self.table.nbytes if self.count > ABOUT_TO_GROW * FULL * len(self.table) else 0

    def widen(self) -> None:
        """Choose a new layout for the values that the components have had so far."""
        old, layout = self.layout, Layout(self.coding)
        words = np.zeros((len(self.words), layout.count), dtype=np.uint64)
        kernels.repack(self.words, words, self.count, old.fields, layout.fields)
        self.layout, self.words = layout, words
        self.table[:] = 0
        kernels.fill(self.words, self.count, self.table)

    def states(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[State]:
        """Return the states with these numbers."""
        return self.layout.unpack(self.words[numbers])

    def number(self, state: State) -> int | None:
        """Return the number of a state, or None if it was not visited."""
        if not self.layout.fits(state):
            return None
        found = kernels.number_of(self.words, self.table, self.layout.pack([state]))
        return None if found == kernels.NOTHING else found


class States(Sequence[State]):
    """The states in order of discovery."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.count

    @overload
    def __getitem__(self, number: int) -> State: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[State]: ...
    def __getitem__(self, number: int | slice) -> State | Sequence[State]:
        if isinstance(number, slice):
            return self._rows.states(range(*number.indices(len(self))))
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return self._rows.states([number % len(self)])[0]

    def __iter__(self) -> Iterator[State]:
        for first in range(0, len(self), BATCH):
            yield from self[first : first + BATCH]


class RowNumbers:
    """The number of each state: what a search asks a dictionary for."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self, state: State) -> int | None:
        """Return the number of a state, or None."""
        return self._rows.number(state)

    def __getitem__(self, state: State) -> int:
        found = self._rows.number(state)
        if found is None:
            raise KeyError(state)
        return found


class RowParents:
    """The number of each state's predecessor; -1 for the first state."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __getitem__(self, number: int) -> int:
        return int(self._rows.parents[number])

    def tobytes(self) -> bytes:
        return self._rows.parents[: self._rows.count].astype(np.int64).tobytes()
