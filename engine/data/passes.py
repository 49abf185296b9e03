"""Reads and merges file slices whose rows exceed the memory limit of a task (`Limits.task_bytes`), part by part.

Without a memory limit, each slice is read in a single pass. With a memory limit, base files are read in batches and
logs one after the other. As soon as the rows exceed the memory limit, all rows are written to a temporary file, in
several parts split by key. The parts are merged separately.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from ..limits import Limits
from ..storage import Storage
from .columns import conform
from .layers import Layer
from .memory import COPIES, bounded, bytes_of, fits, refused
from .merge import merged
from .ranged_file import RangedFile
from .read import layers_after, nothing, read_slice, selected, slice_layers
from .skipping import Parts, can_match, columns_of_keys, parts_of_base
from .spill import LEVELS, MOST_PARTS, Spill, joined
from .tasks import ReadTask

EXPANSION: Final = 8
"""The assumed memory of rows as a multiple of their file's size. A wrong guess costs time, but changes no result."""

FEWEST_PARTS: Final = 16


def slice_parts(storage: Storage, task: ReadTask) -> Iterator[pa.Table]:
    """Yield the merged rows of a slice that satisfy the task's condition, in one or more parts, with the schema
    `task.result_schema`.
    """
    shape, where = task.shape, task.where
    if shape.limits.one_pass:
        yield read_slice(storage, task)
        return
    yield task.result_schema.empty_table()
    base, parts = _opened(storage, task), None
    if where is not None and base is not None:
        parts = parts_of_base(where, task, base)
        if parts is None:
            return
    elif where is not None and not can_match(where, shape, task.logs):
        return
    if task.base_only:
        found = (layer.rows for layer in _base(task, base, parts))
    else:
        found = (merged(each, shape.merge).rows for each in _divided(_layers(storage, task, base, parts), task))
    for rows in found:
        yield conform(selected(rows, where), task.result_schema)


def slice_passes(storage: Storage, task: ReadTask, whole: bool = False) -> Iterator[list[Layer]]:
    """Divide a slice by key into one or more parts, and yield the merge layers of each part. All records of a key are
    in the same part. `whole` is True if the merge needs all rows at once.

    Raises `LimitExceeded` if a part that cannot be split exceeds the memory limit of a task.
    """
    if whole or task.shape.limits.one_pass:
        yield whole_layers(storage, task)
    else:
        yield from _divided(_layers(storage, task, _opened(storage, task)), task)


def whole_layers(storage: Storage, task: ReadTask) -> list[Layer]:
    """Return the merge layers of a slice without splitting them by key. Raises `LimitExceeded` if the rows exceed the
    memory limit of a task.
    """
    if task.shape.limits.one_pass:
        return slice_layers(storage, task)
    return joined(bounded(_layers(storage, task, _opened(storage, task)), task.shape.limits, name_of(task)))


def name_of(task: ReadTask) -> str:
    """Return the file group's name as it appears in error messages."""
    return "the file group " + f"{task.partition}/{task.file_id}".lstrip("/")


def _opened(storage: Storage, task: ReadTask) -> RangedFile | None:
    return None if task.base_input is None else RangedFile(storage, task.base_input, task.shape.limits)


def _layers(storage: Storage, task: ReadTask, base: RangedFile | None, parts: Parts | None = None) -> Iterator[Layer]:
    """Yield the same layers as `slice_layers`, except that the base file is read in batches. `parts` contains the row
    groups of the base file that the read needs; None means all row groups.
    """
    if base is None and not (task.tombstones or task.logs):
        yield nothing(task.shape)
    yield from layers_after(storage, task, _base(task, base, parts))


def _base(task: ReadTask, base: RangedFile | None, parts: Parts | None) -> Iterator[Layer]:
    """Yield the base file in batches of rows. If only the keys of a row group are needed, its rows are yielded as
    deletes, which have no data columns.
    """
    shape = task.shape
    if base is None:
        return
    yield nothing(shape)._replace(base=True)
    groups, keys_of = (None, []) if parts is None else parts
    for rows in base.batches(task.needed, groups):
        yield Layer(conform(rows, shape.packed_schema), shape.deletes_schema.empty_table(), base=True)
    for rows in base.batches(columns_of_keys(shape), keys_of):
        yield Layer(shape.packed_schema.empty_table(), conform(rows, shape.deletes_schema), base=True)


def _divided(layers: Iterable[Layer], task: ReadTask) -> Iterator[list[Layer]]:
    listed = sum(size or 0 for size in (task.base_size, *(log.size for log in (*task.tombstones, *task.logs))))
    parts = 1 << (listed * EXPANSION * COPIES // task.shape.limits.task_bytes).bit_length()
    return divided(layers, task.shape.limits, name_of(task), min(max(parts, FEWEST_PARTS), MOST_PARTS))


def divided(
    layers: Iterable[Layer], bounds: Limits, what: str, parts: int = FEWEST_PARTS, level: int = 0
) -> Iterator[list[Layer]]:
    """Divide the merge layers by key into `parts` parts if their rows exceed the memory limit of a task, and yield the
    layers of each part.

    A part that still exceeds the memory limit is divided again. Raises `LimitExceeded` if a part is still too large
    after `LEVELS` divisions.
    """
    waiting, size = [], 0
    more = iter(layers)
    for layer in more:
        waiting.append(layer)
        size += bytes_of(layer)
        if not fits(size, bounds):
            break
    else:
        yield joined(waiting)
        return
    if level == LEVELS:
        raise refused(f"a part of the keys of {what}", size, bounds)
    with tempfile.TemporaryFile(prefix="nbcc-merge-") as file:
        spill = Spill(file, parts, level)
        spill.add(joined(waiting))
        del waiting, layer  # they are in the file now, and would stay in memory until the last part is merged
        spill.add(more)
        for part in range(parts):
            yield from divided(spill.layers(part), bounds, what, level=level + 1)
