"""Merges several logs of a file slice into one log, which takes their place in the merge order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checksums import checksum_of
from ..file_names import LogName
from ..files.data_block import encode_data
from ..files.delete_block import encode_deletes
from ..names import Names
from ..schema import META_COLUMNS
from ..storage import Storage
from .columns import RECORD_KEY, conform, one_array
from .compact import contribution_block
from .layers import Layer, Merged
from .merge import merged as merged_of
from .partial import contributing
from .passes import whole_layers
from .put_files import put_data_file
from .ranges import COLUMNS, bounds_of
from .tasks import LogCompactTask, WrittenFile


class _Part(NamedTuple):
    """An encoded log block."""

    data: bytes
    rows: int = 0
    deletes: int = 0


def compact_logs(storage: Storage, names: Names, task: LogCompactTask) -> list[WrittenFile]:
    """Merge the logs of a slice into one new log, which replaces them.

    A log compaction preserves the commit time and the sequence number of each row. A delete without an ordering value
    removes all earlier records of its key, including those in older files. The new log starts with these deletes, so
    that they do not remove the rows that follow.
    """
    layers = whole_layers(storage, task.slice)
    merged = merged_of(layers, task.slice.shape.merge)
    rule = task.slice.shape.merge
    if rule.function:  # its rows outrank the deletes
        deleted = one_array(merged.deletes[RECORD_KEY])
        parts = _blocks(task, merged._replace(deletes=merged.deletes.slice(0, 0)), deleted)
    elif rule.partial:
        parts = list(_as_written(task, layers))
    else:
        parts = _blocks(task, merged, _unordered_deletes(layers, task))
    data = b"".join(part.data for part in parts)
    name = LogName(task.slice.file_id, task.instant, 1, names.write_token())
    path = put_data_file(storage, task.instant, task.slice.partition, str(name), data)
    # Records in the file: a key may have several.
    rows, deletes = sum(part.rows for part in parts), sum(part.deletes for part in parts)
    by_row = not rule.function and not rule.partial  # else the file may have other rows than the merge
    bounds = bounds_of(merged.rows, task.slice.shape.schema.names[:COLUMNS]) if by_row else None
    group = task.slice.partition, task.slice.file_id
    written = WrittenFile(path, *group, len(data), rows, deletes, 1, bounds=bounds, checksum=checksum_of(data))
    return [
        replace(
            written,
            log_records=sum(len(layer.rows) + len(layer.deletes) for layer in layers),
            log_files=len(task.slice.logs),
            log_blocks=len(layers),
        )
    ]


def _unordered_deletes(layers: list[Layer], task: LogCompactTask) -> pa.Array:
    """Return the keys of the deletes that have no ordering value."""
    ranked_by = task.slice.shape.merge.ranked_by
    if ranked_by is None:
        return pa.array([], pa.string())
    deletes = pa.concat_tables([layer.deletes for layer in layers])
    return pc.unique(one_array(deletes.filter(deletes[ranked_by].is_null())[RECORD_KEY]))


def _as_written(task: LogCompactTask, layers: list[Layer]) -> Iterator[_Part]:
    """Yield the encoded records of partial updates that contribute to the merged rows."""
    stood_for = tuple(log.requested for log in task.slice.logs)
    for kept in contributing(layers, task.slice.shape.merge):
        if len(kept.rows):
            yield _Part(contribution_block(kept, task.slice, task.instant, stood_for), rows=len(kept.rows))
        if len(kept.deletes):
            yield from _delete_blocks(task, kept.deletes)


def _blocks(task: LogCompactTask, merged: Merged, unordered: pa.Array) -> list[_Part]:
    shape, partition = task.slice.shape, task.slice.partition
    stood_for = tuple(log.requested for log in task.slice.logs)
    by = (task.instant, shape.avro_schema)
    parts = []
    if len(unordered):
        data = encode_deletes(unordered, partition, None, *by, compacted=stood_for)
        parts.append(_Part(data, deletes=len(unordered)))
    if len(merged.rows):
        rows = conform(merged.rows, shape.stored_schema).select([*META_COLUMNS, *shape.schema.names])
        parts.append(_Part(encode_data(rows, shape.log_format, *by, compacted=stood_for), rows=len(rows)))
    ranked_by, deletes = shape.merge.ranked_by, merged.deletes
    if ranked_by is not None:
        deletes = deletes.filter(deletes[ranked_by].is_valid())
    return [*parts, *(_delete_blocks(task, deletes) if len(deletes) else ())]


def _delete_blocks(task: LogCompactTask, deletes: pa.Table) -> list[_Part]:
    """Return one block of deletes without an ordering value, and one block of deletes with an ordering value. Deletes
    with and without an ordering value cannot share a block.
    """
    shape, partition, name = task.slice.shape, task.slice.partition, task.slice.shape.merge.ordering
    stood_for = tuple(log.requested for log in task.slice.logs)
    known = np.zeros(len(deletes), np.bool_) if name is None else deletes[name].is_valid().to_numpy()
    parts = []
    for ordered in (False, True):
        part = deletes.filter(pa.array(known == ordered))
        if len(part):
            orderings = one_array(part[name]) if ordered and name else None
            by = (task.instant, shape.avro_schema)
            data = encode_deletes(one_array(part[RECORD_KEY]), partition, orderings, *by, compacted=stood_for)
            parts.append(_Part(data, deletes=len(part)))
    return parts
