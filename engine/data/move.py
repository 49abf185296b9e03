"""Moves records to other file groups: logs that complete while a resize is pending, and the logs of a writer that finds
another mapping of keys to file groups, or its keys in another partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ..checksums import checksum_of
from ..file_names import LogName
from ..files.data_block import encode_data
from ..names import Names
from ..storage import Storage
from .bucket import only_bucket
from .columns import FILE_NAME, PARTITION_PATH, RECORD_KEY, conform, constant, one_array
from .index_tasks import HomeTask
from .keys import partition_values
from .known_keys import homes_of
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
    name = LogName(task.file_id, task.instant, task.version, names.write_token())
    return _put_log(storage, task.shape, task.partition, name, _layers(storage, task))


def move_home(storage: Storage, names: Names, task: HomeTask) -> list[WrittenFile]:
    """Put the records of the task into one log of each partition that has one of their keys."""
    known, shape = task.known.locations(storage, [task.file_id]), task.shape
    homes: dict[str, list[Layer]] = {}
    for partition, file in task.files:
        for layer in _layers_of(storage, file, shape):
            for home, records in _by_home(layer, partition, known, shape).items():
                homes.setdefault(home, []).append(records)
    made: list[WrittenFile] = []
    for home, layers in sorted(homes.items()):
        made += _put_log(storage, shape, home, LogName(task.file_id, task.instant, 1, names.write_token()), layers)
    return made


def _by_home(layer: Layer, partition: str, known: pa.Table, shape: TableShape) -> dict[str, Layer]:
    """Split the records of a file in `partition` by the partition that has their key. The partition columns of a record
    follow its partition, so that a condition on them finds the record.
    """
    rows, deletes = (_homes(part, partition, known) for part in (layer.rows, layer.deletes))
    found = {}
    for home in pc.unique(pa.concat_arrays([rows, deletes])).to_pylist():
        there = layer.rows.filter(pc.equal(rows, home))
        there = there if home == partition else _in_partition(there, home, shape)
        found[home] = layer._replace(rows=there, deletes=layer.deletes.filter(pc.equal(deletes, home)))
    return found


def _homes(records: pa.Table, partition: str, known: pa.Table) -> pa.Array:
    return homes_of(one_array(records[RECORD_KEY]).cast(pa.string()), pa.repeat(partition, len(records)), known)


def _in_partition(rows: pa.Table, partition: str, shape: TableShape) -> pa.Table:
    """Return rows with the partition path `partition`, and with the values of the partition columns that it states."""
    columns = {PARTITION_PATH: constant(partition, len(rows))}
    for name, value in partition_values(pa.array([partition]), shape.keys).items():
        field = shape.schema.field(name)
        # The path of an empty text is that of a null.
        scalar = value.cast(field.type)[0] if field.nullable or value[0].is_valid else pa.scalar("", field.type)
        columns[name] = pa.repeat(scalar, len(rows))
    for name, column in columns.items():
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, rows.schema.field(place).with_type(column.type), column)
    return rows


def _put_log(
    storage: Storage, shape: TableShape, partition: str, name: LogName, layers: Iterable[Layer]
) -> list[WrittenFile]:
    """Put the records of merge layers into one log, in their order, each with its own commit time. Returns no file if
    there is no record.
    """
    blocks: list[bytes] = []
    rows: list[pa.Table] = []
    deletes, sets = 0, list[frozenset[str] | None]()
    for layer in layers:
        if len(layer.rows):
            stored = conform(_named(layer.rows, name.file_id), shape.stored_schema)
            blocks.append(
                encode_data(
                    stored.select(shape.block_columns(layer.sets)), shape.log_format, name.instant, shape.avro_schema,
                    partial=layer.sets is not None,
                )
            )  # fmt: skip
            rows.append(stored)
            sets.append(layer.sets)
        if len(layer.deletes):
            blocks.append(delete_block(layer.deletes, partition, name.instant, shape))
            deletes += len(layer.deletes)
    if not blocks:
        return []
    data = b"".join(blocks)
    path = put_data_file(storage, name.instant, partition, str(name), data)
    kept = pa.concat_tables([shape.stored_schema.empty_table(), *rows])
    made = WrittenFile(path, partition, name.file_id, len(data), len(kept), deletes, name.version)
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
