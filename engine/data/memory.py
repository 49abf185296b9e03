"""The bound on the memory of a task (`Limits.task_bytes`), and the error for rows that exceed it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from ..errors import LimitExceeded
from ..limits import Limits
from .layers import Layer

COPIES: Final = 4
"""The assumed memory of a task as a multiple of that of its rows: rows, codes of keys, winners, encoding."""


def bounded(parts: Iterable[Layer], bounds: Limits, what: str) -> list[Layer]:
    """Return all layers. Raises `LimitExceeded` as soon as their rows exceed the memory of a task."""
    layers, held = [], 0
    for layer in parts:
        layers.append(layer)
        held += bytes_of(layer)
        if held * COPIES > bounds.task_bytes:
            raise refused(what, held, bounds, "at once")
    return layers


def refused(what: str, held: int, bounds: Limits, how: str) -> LimitExceeded:
    """Return the error for rows that exceed the memory of a task. `held`: the bytes of the rows that were read."""
    return LimitExceeded(
        f"hold the rows of {what} {how}",
        f"the first {held} bytes of them need about {held * COPIES}, and task_bytes is {bounds.task_bytes}",
        "raise task_bytes (nbcc.set_limits) and the memory of a worker, or use more buckets or smaller writes",
    )


def bytes_of(layer: Layer) -> int:
    """Return the bytes that the records of a layer take in memory."""
    return int(layer.rows.nbytes + layer.deletes.nbytes)


def rows_of_task(batches: Iterable[pa.RecordBatch], bounds: Limits) -> pa.Table | None:
    """Return all rows that a task writes; None if it has no rows. Raises `LimitExceeded` if they are too many."""
    filled, held = [], 0
    for batch in batches:
        if batch.num_rows:
            filled.append(batch)
            held += batch.nbytes
            if held * COPIES > bounds.task_bytes:
                raise refused("a task of a write", held, bounds, "at once")
    return pa.Table.from_batches(filled) if filled else None
