"""The walk of a breadth-first search over arrays: many states at a time, in the order in which the plain search visits
them. A rule is evaluated by the model once for the values that it reads; everything else is a copy, an addition or a
comparison of words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nbcc.model.machine.stepper import Stepper

from ..ends import Ends
from ..walk import Walk
from ..watch import Watchers
from . import kernels
from .cycles import on_cycles
from .judged import Judged
from .moves import MoveTables, TooNarrow
from .states import RowNumbers, RowParents, Rows, States


class ArrayWalk:
    """Continues another walk: a `Walk`."""

    def __init__(self, stepper: Stepper, watchers: Watchers, ends: Ends, before: Walk) -> None:
        self.rows = Rows(stepper.coding, before.states, before.parents)
        self.stepper, self.watchers, self.ends = stepper, watchers, ends
        self.states, self.numbers, self.parents = States(self.rows), RowNumbers(self.rows), RowParents(self.rows)
        self.generated, self.goes_back = before.generated, before.goes_back
        self._every = list(watchers.footprints)
        self._make_tables()

    @property
    def stands_for(self) -> int:
        return self.rows.count

    @property
    def growth(self) -> int:
        return self.rows.growth

    def _make_tables(self) -> None:
        """Make the tables that depend on the layout of the words."""
        self.moves = MoveTables(self.rows, self.stepper)
        self.judged = Judged(self.rows, self.moves, self.watchers, self._every)

    def expand(self, first: int, until: int, level_end: int) -> None:
        found = self._moves(first, until)
        rows, moves = self.rows, self.moves
        total = kernels.count_moves(found, until - first, moves.counts)
        afters = np.empty((max(1, total), rows.layout.count), dtype=np.uint64)
        sources, by, fresh = (np.empty(max(1, total), dtype=np.int64) for _ in range(3))
        ends = np.empty(until - first, dtype=np.int64)
        without = kernels.make_moves(rows.words, first, until, found, moves.starts, moves.counts, moves.deltas, afters,
                                     sources, by, ends)  # fmt: skip
        rows.reserve(total)
        before = rows.count
        rows.count, goes_back = kernels.insert(
            rows.words, rows.parents, rows.count, rows.table, afters, sources, total, level_end, fresh
        )
        self.generated += total
        self.goes_back = self.goes_back or bool(goes_back)
        self._see_states(fresh, sources, by, total, rows.count - before)
        self._see_steps(afters, sources, by, total)
        for number, state in zip(ends[:without].tolist(), rows.states(ends[:without]), strict=True):
            self.ends.see(number, state)

    def on_cycles(self) -> list[int]:
        return on_cycles(self.rows, self.moves)

    def _moves(self, first: int, until: int) -> NDArray[np.int64]:
        while True:
            try:
                return self.moves.find(first, until)
            except TooNarrow:
                self.rows.widen()
                self._make_tables()

    def _see_states(
        self, fresh: NDArray[np.int64], sources: NDArray[np.int64], by: NDArray[np.int64], total: int, new: int
    ) -> None:
        events, footprints = self.judged.new_states(fresh, sources, total, new)
        at, places = events[:, 0], events[:, 1].tolist()
        states, befores = self.rows.states(fresh[at]), self.rows.states(sources[at])
        for place, state, before, move in zip(places, states, befores, by[at].tolist(), strict=True):
            self.watchers.judge(footprints[place], state, before, self.moves.taken[move])

    def _see_steps(
        self, afters: NDArray[np.uint64], sources: NDArray[np.int64], by: NDArray[np.int64], total: int
    ) -> None:
        events = self.judged.new_steps(afters, sources, by, total)
        at, places = events[:, 0], events[:, 1].tolist()
        befores, ends = self.rows.states(sources[at]), self.rows.layout.unpack(afters[at])
        for place, before, move, after in zip(places, befores, by[at].tolist(), ends, strict=True):
            self.watchers.step_groups[place].judge_step(before, self.moves.taken[move], after)
