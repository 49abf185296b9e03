"""Merges a file slice in several passes, each over a part of the keys, if the task may not hold all rows at once.

A pass reads all files of the slice and drops the rows whose keys belong to other passes. Base files are read in
batches, logs one after the other. Each merge compares records of one key only, so that passes change no result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from ..storage import Storage
from .bucket import string_hash
from .columns import RECORD_KEY, conform
from .layers import Layer
from .memory import COPIES, bytes_of, refused
from .merge import merged
from .read import base_batches, base_rows, log_layers, nothing, slice_layers
from .tasks import ReadTask

EXPANSION: Final = 4
"""The usual memory of rows as a multiple of their file's size. A wrong guess costs time, but changes no result."""
MOST_PASSES: Final = 1 << 12

_FACTOR: Final = np.uint32(2654435761)  # mixes the hash, of which the bucket of a row is the remainder
_SHIFT: Final = np.uint32(12)


class _Part(NamedTuple):
    """The keys of a pass: those whose mixed hash has the remainder `number` by `parts`, a power of two."""

    parts: int
    number: int

    @property
    def halves(self) -> tuple[_Part, _Part]:
        return _Part(2 * self.parts, self.number), _Part(2 * self.parts, self.number + self.parts)


def slice_passes(storage: Storage, task: ReadTask, most: int = MOST_PASSES) -> Iterator[list[Layer]]:
    """Return the layers of each pass over a slice. `most`: the greatest number of passes.

    Raises `LimitExceeded` if a part of the keys has more rows than a task may hold.
    """
    limit = task.shape.limits.task_bytes
    size = _listed_bytes(task) * EXPANSION * COPIES
    parts = 1 if size <= limit else min(most, 1 << (size // limit).bit_length())
    waiting = [_Part(parts, number) for number in reversed(range(parts))]
    while waiting:
        part = waiting.pop()
        layers, held = _layers_of(storage, task, part) if size > limit else _all_layers(storage, task)
        if held * COPIES <= limit:
            yield layers
        elif 2 * part.parts <= most:
            size = limit + 1  # the files are larger in memory than they seemed
            waiting += reversed(part.halves)
        else:
            name = f"{task.partition}/{task.file_id}".lstrip("/")
            how = f"in passes over 1/{part.parts} of its keys"
            raise refused(f"the file group {name}", held, task.shape.limits, how)


def whole_layers(storage: Storage, task: ReadTask) -> list[Layer]:
    """Return the layers of a slice that must be merged in one pass. Raises `LimitExceeded` if they are too large."""
    (layers,) = slice_passes(storage, task, most=1)
    return layers


def _listed_bytes(task: ReadTask) -> int:
    """Return the size of a slice's files in bytes, as their commits list it. An unknown size counts as zero."""
    sizes = [log.size for log in (*task.tombstones, *task.logs)]
    return (task.base_size or 0) + sum(size or 0 for size in sizes)


def _all_layers(storage: Storage, task: ReadTask) -> tuple[list[Layer], int]:
    """Return all layers, and the bytes of their rows."""
    layers = slice_layers(storage, task)
    return layers, sum(bytes_of(layer) for layer in layers)


def _layers_of(storage: Storage, task: ReadTask, part: _Part) -> tuple[list[Layer], int]:
    """Return the layers with the keys of a part, and the bytes of their rows. The function stops as soon as the rows
    exceed the memory of a task.
    """
    layers, held = [], 0
    for layer in _layers(storage, task):
        mine = Layer(_filtered(layer.rows, part), _filtered(layer.deletes, part), *layer[2:])
        layers.append(mine)
        held += bytes_of(mine)
        if held * COPIES > task.shape.limits.task_bytes:
            break
    return (_joined(layers) if layers else [nothing(task.shape)]), held


def _layers(storage: Storage, task: ReadTask) -> Iterator[Layer]:
    """Return the layers of a slice as `slice_layers` does, but the base file as one layer for each batch."""
    shape = task.shape
    if task.base_input is not None:
        for rows in base_batches(storage, task.base_input, shape, task.needed):
            yield Layer(rows, shape.deletes_schema.empty_table(), base=True)
    for log in task.tombstones:
        yield from log_layers(storage, log, shape, task.needed, base=True)
    for log in task.logs:
        yield from log_layers(storage, log, shape, task.needed)


def _joined(layers: list[Layer]) -> list[Layer]:
    """Join the batches of the base file to one layer, as merges expect it."""
    batches = [layer for layer in layers if layer.base and not layer.kept]
    if not batches:
        return layers
    rows = pa.concat_tables([layer.rows for layer in batches])
    return [batches[0]._replace(rows=rows), *layers[len(batches) :]]


def _filtered(rows: pa.Table, part: _Part) -> pa.Table:
    if part.parts == 1 or not len(rows):
        return rows
    hashes = (string_hash(rows[RECORD_KEY]) * _FACTOR) >> _SHIFT
    return rows.filter(pa.array((hashes & np.uint32(part.parts - 1)) == np.uint32(part.number)))


def slice_parts(storage: Storage, task: ReadTask) -> Iterator[pa.Table]:
    """Return the merged rows of a slice in parts, with the schema `task.result_schema`."""
    if not task.base_only or task.base_input is None:
        for layers in slice_passes(storage, task):
            yield conform(merged(layers, task.shape.merge).rows, task.result_schema)
    elif _listed_bytes(task) * EXPANSION * COPIES > task.shape.limits.task_bytes:
        for rows in base_batches(storage, task.base_input, task.shape, task.needed):
            yield conform(rows, task.result_schema)
    else:
        yield conform(base_rows(storage, task.base_input, task.shape, task.needed), task.result_schema)


def read_slice(storage: Storage, task: ReadTask) -> pa.Table:
    """Return the merged rows of a slice, with the schema `task.result_schema`."""
    return pa.concat_tables(slice_parts(storage, task))
