"""Which states and steps show a promise something new: what the plain search keeps in sets, in tables of numbers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..watch import PromiseFootprint, Watchers
from . import kernels
from .moves import MoveTables
from .states import BATCH, FULL, Rows, empty_table

Events = NDArray[np.int64]
"""Rows of a row among the successors and the place of a group."""
NO_EVENTS: Final = np.zeros((0, 2), dtype=np.int64)


class Judged:
    """The footprints and steps that the promises of a search have been judged on."""

    def __init__(self, rows: Rows, moves: MoveTables, watchers: Watchers, every: list[PromiseFootprint]) -> None:
        self.rows, self.moves, self.watchers, self.every = rows, moves, watchers, every
        self._masks = rows.layout.masks(each.bits or 0 for each in every)
        self._table, self._groups, self._count = empty_table(0), np.zeros(1 << 10, dtype=np.uint16), 0
        self._step_masks = rows.layout.masks(group.bits or 0 for group in watchers.step_groups)
        self._steps, self._step_keys, self._step_count = empty_table(0), np.zeros((1 << 10, 3), dtype=np.int64), 0
        # Each state so far was judged. Steps may be judged again: that costs time, and changes nothing.
        for first in range(0, rows.count, BATCH):
            last = min(first + BATCH, rows.count)
            self._reserve((last - first) * len(self._open))
            self._count += kernels.enter_footprints(rows.words, first, last, *self._asked, self._table, self._groups)

    @property
    def _open(self) -> list[int]:
        still = {id(each) for each in self.watchers.footprints}
        return [number for number, each in enumerate(self.every) if id(each) in still]

    @property
    def _asked(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        return self._masks[self._open], np.array(self._open, dtype=np.int64)

    def _reserve(self, more: int) -> None:
        if self._count + more > FULL * len(self._table):
            table = empty_table(2 * self._count + more)
            groups = np.zeros(len(table), dtype=np.uint16)
            kernels.fill_footprints(self.rows.words, self._masks, self._table, self._groups, table, groups)
            self._table, self._groups = table, groups

    def _reserve_steps(self, more: int) -> None:
        if self._step_count + more > FULL * len(self._steps):
            table = empty_table(2 * self._step_count + more)
            keys = np.zeros((len(table), 3), dtype=np.int64)
            kernels.fill_steps(self.rows.words, self.moves.deltas, self.moves.names, self._step_masks, self._steps,
                               self._step_keys, table, keys)  # fmt: skip
            self._steps, self._step_keys = table, keys

    def new_states(self, fresh: Any, sources: Any, total: int, new: int) -> tuple[Events, list[PromiseFootprint]]:
        """Return the new states that show something new, and the footprints to which the places refer."""
        masks, ids = self._asked
        room = new * len(ids)
        if not room:
            return NO_EVENTS, []
        self._reserve(room)
        events = np.empty((room, 2), dtype=np.int64)
        found = kernels.new_footprints(self.rows.words, fresh, sources, total, masks, ids, self._table, self._groups,
                                       events)  # fmt: skip
        self._count += found
        return events[:found], [self.every[number] for number in ids]

    def new_steps(self, afters: Any, sources: Any, by: Any, total: int) -> Events:
        """Return the steps that no step before was like."""
        room = total * len(self._step_masks)
        if not room:
            return NO_EVENTS
        self._reserve_steps(room)
        events = np.empty((room, 2), dtype=np.int64)
        found = kernels.new_steps(self.rows.words, afters, sources, by, total, self._step_masks, self.moves.deltas,
                                  self.moves.names, self._steps, self._step_keys, events)  # fmt: skip
        self._step_count += found
        return events[:found]
