"""Several logs of a slice become one, which ranks where they did."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ..files.data_block import encode_data
from ..files.delete_block import encode_deletes
from ..files.names import LogName
from ..names import Names
from ..schema import META_COLUMNS
from ..storage import Storage
from .columns import RECORD_KEY, conform, one_array
from .merge import Layer, Merged, merge
from .publish import put_data_file
from .read import slice_layers
from .tasks import LogCompactTask, WrittenFile


def compact_logs(storage: Storage, names: Names, task: LogCompactTask) -> list[WrittenFile]:
    """Merge the logs and put the one that stands for them: their winners, rows and deletes.

    Rows keep their commit time and number. A delete without an ordering value beats whatever came before these logs,
    also where a row that came later wins among them; so all of those deletes stay, in a block before the rows.
    """
    layers = slice_layers(storage, task.slice)
    merged = merge(layers, task.slice.shape.merge)
    data = b"".join(_blocks(task, merged, _fences(layers, task)))
    name = LogName(task.slice.file_id, task.instant, 1, names.write_token())
    path = put_data_file(storage, task.instant, task.slice.partition, str(name), data)
    written = WrittenFile(
        path, task.slice.partition, task.slice.file_id, len(data), len(merged.rows), len(merged.deletes), version=1
    )
    return [
        replace(
            written,
            log_records=sum(len(layer.rows) + len(layer.deletes) for layer in layers),
            log_files=len(task.slice.logs),
            log_blocks=len(layers),
        )
    ]


def _fences(layers: list[Layer], task: LogCompactTask) -> pa.Array:
    """The keys of the deletes that beat whatever came before them; by commit time that is no more than any other."""
    ranked_by = task.slice.shape.merge.ranked_by
    if ranked_by is None:
        return pa.array([], pa.string())
    deletes = pa.concat_tables([layer.deletes for layer in layers])
    return pc.unique(one_array(deletes.filter(deletes[ranked_by].is_null())[RECORD_KEY]))


def _blocks(task: LogCompactTask, merged: Merged, fences: pa.Array) -> list[bytes]:
    shape, partition = task.slice.shape, task.slice.partition
    stood_for = tuple(log.requested for log in task.slice.logs)
    by = (task.instant, shape.avro_schema)
    blocks = [encode_deletes(fences, partition, None, *by, compacted=stood_for)] if len(fences) else []
    if len(merged.rows):
        rows = conform(merged.rows, shape.stored_schema).select([*META_COLUMNS, *shape.schema.names])
        blocks.append(encode_data(rows, shape.log_format, *by, stood_for))
    name, ranked_by, deletes = shape.merge.ordering, shape.merge.ranked_by, merged.deletes
    if ranked_by is not None:
        deletes = deletes.filter(deletes[ranked_by].is_valid())
    if len(deletes):
        orderings = None if name is None or deletes[name].null_count else one_array(deletes[name])
        blocks.append(encode_deletes(one_array(deletes[RECORD_KEY]), partition, orderings, *by, compacted=stood_for))
    return blocks
