"""Enforces the memory limit of a task (`Limits.task_bytes`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from ..errors import LimitExceeded
from ..limits import Limits
from .layers import Layer

COPIES: Final = 4
"""The assumed memory of a task as a multiple of that of its rows: rows, codes of keys, winners, encoding."""


def fits(size: int, bounds: Limits, copies: int = COPIES) -> bool:
    """Return True if a task may keep rows of `size` bytes in memory."""
    return size * copies <= bounds.task_bytes


def bounded(layers: Iterable[Layer], bounds: Limits, what: str) -> list[Layer]:
    """Collect the layers in a list. Raises `LimitExceeded` as soon as the collected rows exceed the memory limit of a
    task.
    """
    read, size = [], 0
    for layer in layers:
        read.append(layer)
        size += bytes_of(layer)
        if not fits(size, bounds):
            raise refused(what, size, bounds)
    return read


def bytes_of(layer: Layer) -> int:
    """Return the size in memory, in bytes, of the records in a merge layer."""
    return int(layer.rows.nbytes + layer.deletes.nbytes)


def rows_of_task(batches: Iterable[pa.RecordBatch], bounds: Limits) -> pa.Table | None:
    """Return the rows of all batches as one table, or None if there are no rows. Raises `LimitExceeded` if the rows
    exceed the memory limit of a task.
    """
    filled, size = [], 0
    for batch in batches:
        if batch.num_rows:
            filled.append(batch)
            size += batch.nbytes
            if not fits(size, bounds):
                raise refused("a task of a write", size, bounds)
    return pa.Table.from_batches(filled) if filled else None


def refused(what: str, size: int, bounds: Limits, copies: int = COPIES) -> LimitExceeded:
    """Return the error for rows that exceed the memory limit of a task. `size` is the size in bytes of the rows read so
    far.
    """
    return LimitExceeded(
        f"hold the rows of {what} in memory",
        f"the first {size} bytes of them need about {size * copies}, and task_bytes is {bounds.task_bytes}",
        "raise task_bytes (nbcc.set_limits) and the memory of a worker, or use more buckets or smaller writes",
    )
