"""The moves of each actor as numbers that are added to a row of words, once for each combination of values that they
depend on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbcc.model.machine.state import WIDTH, State
from nbcc.model.machine.stepper import Moves, Stepper

from . import kernels
from .states import Rows, empty_table


class TooNarrow(Exception):
    """A component has had more values than its field has room for."""


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array with at least `size` rows, the new ones 0."""
    if len(array) >= size:
        return array
    larger = np.zeros((max(size, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


class MoveTables:
    """Which moves each actor has. What is not known yet the stepper of the model says."""

    def __init__(self, rows: Rows, stepper: Stepper) -> None:
        self.rows, self.stepper = rows, stepper
        self.layout = layout = rows.layout
        self.own = stepper.own
        fields = layout.fields
        self.slots = fields[list(self.own)]
        width = layout.count
        self.known = np.zeros((len(self.own), 1), dtype=np.int8)
        self.masks = np.zeros((len(self.own), 1, width), dtype=np.uint64)
        self.table, self.used = empty_table(0), np.zeros(1, dtype=np.int64)
        self.tags, self.keys = np.zeros(1, dtype=np.int64), np.zeros((1, width), dtype=np.uint64)
        self.starts, self.counts = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.moves = 0
        self.deltas, self.names = np.zeros((1, width), dtype=np.uint64), np.zeros(1, dtype=np.int32)
        self.taken: list[Any] = []
        """The step of each move."""
        self._names: dict[Any, int] = {}

    def find(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the entries of moves of the states from `first` to `last`, a row a state and a column an actor.

        Raises:
            TooNarrow: If the successors have values for which there is no room.
        """
        count = (last - first) * len(self.own)
        found, missing = np.empty((last - first, len(self.own)), dtype=np.int64), np.empty((count, 3), dtype=np.int64)
        unresolved = True
        while unresolved:
            self._reserve(count)
            asked = kernels.find_moves(self.rows.words, first, last, self.slots, self.known, self.masks, self.table,
                                       self.tags, self.keys, self.used, found, missing)  # fmt: skip
            unresolved = self._learn(missing[:asked])
        return found

    def _reserve(self, more: int) -> None:
        values = max(len(self.stepper.coding.values(place)) for place in self.own)
        if self.known.shape[1] < values:
            larger = 2 * values - self.known.shape[1]
            self.known = np.pad(self.known, ((0, 0), (0, larger)))
            self.masks = np.pad(self.masks, ((0, 0), (0, larger), (0, 0)))
        entries = int(self.used[0]) + more
        self.tags, self.keys = grown(self.tags, entries), grown(self.keys, entries)
        self.starts, self.counts = grown(self.starts, entries), grown(self.counts, entries)
        if 2 * entries > len(self.table):
            self.table = empty_table(2 * entries)
            kernels.fill_moves(self.keys, self.tags, int(self.used[0]), self.table)

    def _learn(self, missing: NDArray[np.int64]) -> bool:
        """Ask the stepper for what is missing. Returns True if a further look at the states is needed."""
        states = self.rows.states(missing[:, 0])
        entries, befores, moves = [], list[State](), list[Moves]()
        asleep = False
        for state, slot, entry in zip(states, missing[:, 1].tolist(), missing[:, 2].tolist(), strict=True):
            if entry == kernels.NOTHING:
                self._wake(slot, state)
                asleep = True
            else:
                entries.append(entry)
                befores.append(state)
                moves.append(self.stepper.moves_of(slot, state))
        self._keep(np.array(entries, dtype=np.int64), befores, moves)
        return asleep

    def _wake(self, slot: int, state: State) -> None:
        bits, own = self.stepper.bits_of(slot, state), state >> self.own[slot] * WIDTH & (1 << WIDTH) - 1
        self.masks[slot, own] = self.layout.mask(bits)
        self.known[slot, own] = kernels.AWAKE if bits else kernels.ASLEEP

    def _keep(self, entries: NDArray[np.int64], states: list[State], moves: list[Moves]) -> None:
        # All are evaluated before one is packed: the layout must have room for their new values.
        if self.layout.is_too_narrow:
            raise TooNarrow
        counts = [len(each) for each in moves]
        end = self.moves + sum(counts)
        self.counts[entries] = counts
        self.starts[entries] = np.cumsum([self.moves, *counts])[:-1]
        self.deltas, self.names = grown(self.deltas, end), grown(self.names, end)
        befores = np.repeat(self.layout.pack(states), counts, axis=0)
        afters = self.layout.pack([state + move[1] for state, some in zip(states, moves, strict=True) for move in some])
        self.deltas[self.moves : end] = afters - befores
        steps = [step for some in moves for step, _ in some]
        self.names[self.moves : end] = [self._names.setdefault(step, len(self._names)) for step in steps]
        self.taken += steps
        self.moves = end
