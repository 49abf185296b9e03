"""Moves records to the file groups of another generation: logs that complete while a resize is pending, and the logs
of a writer that finds another mapping of keys to file groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from ..checksums import checksum_of
from ..file_names import LogName
from ..files.data_block import encode_data
from ..names import Names
from ..storage import Storage
from .bucket import only_bucket
from .columns import FILE_NAME, conform, constant
from .layers import Layer
from .put_files import put_data_file
from .ranges import COLUMNS, bounds_of
from .read import base_rows, log_layers
from .tasks import BaseInput, LogInput, MoveTask, TableShape, WrittenFile
from .write import delete_block


def move_records(storage: Storage, names: Names, task: MoveTask) -> list[WrittenFile]:
    """Put the records of the task into one log, in merge order, each with its own commit time. Returns no file if the
    task has no record.
    """
    shape = task.shape
    blocks: list[bytes] = []
    rows: list[pa.Table] = []
    deletes, sets = 0, list[frozenset[str] | None]()
    for layer in _layers(storage, task):
        if len(layer.rows):
            stored = conform(_named(layer.rows, task.file_id), shape.stored_schema)
            blocks.append(
                encode_data(
                    stored.select(shape.block_columns(layer.sets)), shape.log_format, task.instant, shape.avro_schema,
                    partial=layer.sets is not None,
                )
            )  # fmt: skip
            rows.append(stored)
            sets.append(layer.sets)
        if len(layer.deletes):
            blocks.append(delete_block(layer.deletes, task.partition, task.instant, shape))
            deletes += len(layer.deletes)
    if not blocks:
        return []
    data = b"".join(blocks)
    name = LogName(task.file_id, task.instant, task.version, names.write_token())
    path = put_data_file(storage, task.instant, task.partition, str(name), data)
    kept = pa.concat_tables([shape.stored_schema.empty_table(), *rows])
    made = WrittenFile(path, task.partition, task.file_id, len(data), len(kept), deletes, task.version)
    bounds = bounds_of(kept, _bounded(shape, sets))
    return [replace(made, bounds=bounds, checksum=checksum_of(data))]


def _layers(storage: Storage, task: MoveTask) -> Iterator[Layer]:
    for file in task.files:
        yield from only_bucket_of(_layers_of(storage, file, task.shape), task.shape, task.bucket)


def _layers_of(storage: Storage, file: LogInput | BaseInput, shape: TableShape) -> list[Layer]:
    if isinstance(file, LogInput):
        return log_layers(storage, file, shape)
    return [Layer(base_rows(storage, file, shape), shape.deletes_schema.empty_table())]


def only_bucket_of(layers: Sequence[Layer], shape: TableShape, bucket: tuple[int, int]) -> list[Layer]:
    """Return the records of merge layers that belong to one bucket: its number, and the number of buckets."""
    return [
        layer._replace(
            rows=only_bucket(layer.rows, shape.keys, *bucket), deletes=only_bucket(layer.deletes, shape.keys, *bucket)
        )
        for layer in layers
    ]


def _named(rows: pa.Table, file_id: str) -> pa.Table:
    place = rows.schema.get_field_index(FILE_NAME)
    return rows.set_column(place, rows.schema.field(place).name, constant(file_id, len(rows)))


def _bounded(shape: TableShape, sets: Sequence[frozenset[str] | None]) -> list[str]:
    """Return the columns whose bounds a commit records: those that every record sets."""
    return [name for name in shape.schema.names[:COLUMNS]
            if all(each is None or name in each or name in shape.merge.always for each in sets)]  # fmt: skip
