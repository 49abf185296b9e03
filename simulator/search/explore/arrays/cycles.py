"""Which states are on cycles: what is left of the graph of states after all that leads nowhere is taken away."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kernels
from .kernels import kernel
from .moves import MoveTables
from .states import BATCH, Rows


def on_cycles(rows: Rows, moves: MoveTables) -> list[int]:
    """Return the numbers of the states that are on a cycle or between two cycles, after all states were visited."""
    counts, targets = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for first in range(0, rows.count, BATCH):
        until = min(first + BATCH, rows.count)
        found = moves.find(first, until)
        total = kernels.count_moves(found, until - first, moves.counts)
        afters = np.empty((max(1, total), rows.layout.count), dtype=np.uint64)
        sources, by = (np.empty(max(1, total), dtype=np.int64) for _ in range(2))
        kernels.make_moves(rows.words, first, until, found, moves.starts, moves.counts, moves.deltas, afters, sources,
                           by, np.empty(until - first, dtype=np.int64))  # fmt: skip
        counts.append(np.bincount(sources[:total] - first, minlength=until - first))
        targets.append(numbers_of(rows.words, rows.table, afters[:total]))
    left = np.ones(rows.count, dtype=np.bool_)
    peel(np.cumsum(np.concatenate(counts)), np.concatenate(targets), left)
    numbers: list[int] = np.flatnonzero(left).tolist()
    return numbers


@kernel
def numbers_of(words: Any, table: Any, wanted: Any) -> Any:
    """Return the number of each state of `wanted`."""
    found = np.empty(wanted.shape[0], dtype=np.int32)
    for row in range(wanted.shape[0]):
        found[row] = kernels.number_of(words, table, wanted[row : row + 1])
    return found


@kernel
def peel(starts: Any, targets: Any, left: Any) -> None:
    """Leave out each state without a predecessor or without a successor among those that are left, until none is.

    Almost all edges lead to a higher number, so that few passes are needed, each from the last state to the first and
    back.
    """
    reached, again = np.empty(left.shape[0], dtype=np.bool_), True
    while again:
        again = False
        reached[:] = False
        for number in range(left.shape[0] - 1, -1, -1):
            if left[number]:
                goes_on = False
                for edge in range(starts[number], starts[number + 1]):
                    goes_on = goes_on or left[targets[edge]]
                    reached[targets[edge]] |= targets[edge] <= number
                if not goes_on:
                    left[number], again = False, True
        for number in range(left.shape[0]):
            if left[number] and not reached[number]:
                left[number], again = False, True
            elif left[number]:
                for edge in range(starts[number], starts[number + 1]):
                    reached[targets[edge]] = True
