"""Writes a batch: splits the rows by file group, combines rows with equal keys, and writes log files or base files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checksums import checksum_of
from ..file_names import BaseName, LogName, partition_metadata
from ..files.data_block import encode_data
from ..files.delete_block import encode_deletes
from ..files.record_index import put_locations
from ..names import Generation, Names, bucket_file_id
from ..schema import META_COLUMNS
from ..storage import Storage, together
from .bucket import buckets_of
from .codes import key_codes, order_numbers
from .columns import (
    COMMIT_SEQNO,
    COMMIT_TIME,
    FILE_NAME,
    IS_DELETED,
    PARTITION_PATH,
    RECORD_KEY,
    constant,
    is_deleted,
    one_array,
)
from .digest import digest_of
from .keys import hashed_values, partition_paths, record_keys
from .known_keys import InsertedKeys
from .merge import winners_of
from .put_files import put_base_file, put_data_file
from .ranges import COLUMNS, bounds_of
from .rewrite import rewrite_group
from .tasks import TableShape, WriteTask, WrittenFile


class GroupBatch(NamedTuple):
    """The rows of a batch that belong to one file group, in the order of the batch.

    `first` is the position of the file group's first row in the batch sorted by file group.
    """

    partition: str
    bucket: int
    rows: pa.Table
    first: int


def bucket_column(rows: pa.Table, shape: TableShape, shares: int = 1) -> pa.Array:
    """Return a number for each row that combines its bucket with the index of its Spark task. The keys of each bucket
    are divided among `shares` Spark tasks. The number is the bucket plus `shape.buckets` times the index of the task.
    """
    return pa.array(buckets_of(hashed_values(rows, shape.keys), shape.buckets * shares))


def split_by_group(rows: pa.Table, buckets: pa.Array, shape: TableShape) -> Iterator[GroupBatch]:
    """Split the batch by file group, ordered by partition and bucket. `buckets` contains the bucket of each row (see
    `bucket_column`).
    """
    paths = partition_paths(rows, shape.keys).dictionary_encode()
    by_name = pc.sort_indices(paths.dictionary).to_numpy()
    place = np.empty(len(by_name), np.int64)
    place[by_name] = np.arange(len(by_name))
    groups = place[paths.indices.to_numpy()] * shape.buckets + one_array(buckets).to_numpy()
    order = np.argsort(groups, kind="stable")
    numbers, firsts = np.unique(groups[order], return_index=True)
    sorted_rows = rows if len(numbers) == 1 else rows.take(pa.array(order))
    ends = [*firsts[1:], len(groups)]
    for number, first, end in zip(numbers.tolist(), firsts, ends, strict=True):
        partition = paths.dictionary[int(by_name[number // shape.buckets])].as_py()
        yield GroupBatch(partition, number % shape.buckets, sorted_rows.slice(first, end - first), int(first))


def combine(rows: pa.Table, shape: TableShape) -> pa.Table:
    """Return one row for each key of a batch, in the order of the batch: the row with the greatest ordering value, or
    among several such rows the last one. In a table without an ordering column, it is the last row of the key.

    The rows must have passed the validation by `problems`.
    """
    codes, keys = key_codes(record_keys(rows, shape.keys))
    if keys == len(rows):
        return rows
    ordering = None if shape.merge.ordering is None else order_numbers([rows[shape.merge.ordering]])
    return rows.take(pa.array(np.sort(winners_of(codes, keys, ordering))))


def write_group(
    storage: Storage, names: Names, task: WriteTask, group: GroupBatch, spark_task: int
) -> list[WrittenFile]:
    """Write the files of one file group. `spark_task` is the number of the Spark task (0 without Spark). It is part of
    the rows' sequence numbers, so that no two tasks of a write use the same numbers.
    """
    files = _put_group(storage, names, task, group, spark_task)
    if task.digests:  # of the input rows, before rows of equal key are combined
        files[0] = replace(files[0], digest=digest_of(group.rows, task.sets))
    return files


def with_inserts(files: list[WrittenFile], inserts: InsertedKeys | None) -> list[WrittenFile]:
    """Return the files of a task, the first of which states what the task has found and put in the record index."""
    if inserts is None:
        return files
    return [replace(files[0], inserts=inserts.rows, elsewhere=inserts.elsewhere), *files[1:]]


def _put_group(
    storage: Storage, names: Names, task: WriteTask, group: GroupBatch, spark_task: int
) -> list[WrittenFile]:
    puts = [partial(_put_files, storage, names, task, group, spark_task)]
    if task.shape.keys.partition_by:
        puts.insert(0, partial(_put_metadata, storage, task, group))
    if task.known is not None and task.known.inserts:
        puts.insert(0, partial(_put_locations, storage, names, task, group))
    return together(storage, puts)[-1]


def _put_locations(storage: Storage, names: Names, task: WriteTask, group: GroupBatch) -> list[WrittenFile]:
    """Put the locations of the group's keys into the record index, also of those that the index has already."""
    keys = one_array(record_keys(group.rows, task.shape.keys)).unique()
    file_id = bucket_file_id(group.bucket, Generation(task.generation, task.shape.buckets))
    partitions = pa.repeat(group.partition, len(keys))
    put_locations(storage, task.instant, file_id, names.write_token(), keys, partitions)
    return []


def _put_metadata(storage: Storage, task: WriteTask, group: GroupBatch) -> list[WrittenFile]:
    storage.put_if_absent(*partition_metadata(group.partition, task.instant))
    return []


def _put_files(
    storage: Storage, names: Names, task: WriteTask, group: GroupBatch, spark_task: int
) -> list[WrittenFile]:
    shape = task.shape
    file_id = task.file_ids.get((group.partition, group.bucket)) or _file_id(names, task, group.bucket)
    rows = _stored(combine(group.rows, shape), task, group, file_id, spark_task)
    if task.onto is not None:
        name = BaseName(file_id, names.write_token(), task.instant)
        before = task.onto.get((group.partition, file_id))
        return [rewrite_group(storage, shape, group.partition, name, rows, before=before)]
    if task.bulk and (group.partition, file_id) not in task.filled:
        name = BaseName(file_id, names.write_token(), task.instant)
        return [put_base_file(storage, group.partition, name, rows.select([*META_COLUMNS, *shape.schema.names]))]
    return [
        _write_log(storage, task, group.partition, LogName(file_id, task.instant, version, names.write_token()), piece)
        for version, piece in enumerate(_roll(rows, task.max_log_bytes), start=task.first_version)
    ]


def _file_id(names: Names, task: WriteTask, bucket: int) -> str:
    if not task.generation:
        return names.file_id(bucket)
    return bucket_file_id(bucket, Generation(task.generation, task.shape.buckets))


def _roll(rows: pa.Table, max_bytes: int) -> Iterator[pa.Table]:
    """Split the rows into parts of about `max_bytes` bytes, with at least one row in each part."""
    per_file = max(1, max_bytes * len(rows) // max(1, rows.nbytes))
    for first in range(0, len(rows), per_file):
        yield rows.slice(first, per_file)


def _stored(rows: pa.Table, task: WriteTask, group: GroupBatch, file_id: str, spark_task: int) -> pa.Table:
    """Return the rows with Hudi's five meta columns (docs/hudi-format.md)."""
    count = len(rows)
    numbers = pa.array(np.arange(group.first, group.first + count))
    columns = {
        COMMIT_TIME: constant(task.instant, count),
        COMMIT_SEQNO: pc.binary_join_element_wise(f"{task.instant}_{spark_task}_", numbers.cast(pa.string()), ""),
        RECORD_KEY: record_keys(rows, task.shape.keys),
        PARTITION_PATH: constant(group.partition, count),
        FILE_NAME: constant(file_id, count),  # as Hudi's logs have it; a base file replaces it by its own name
    }
    columns |= {name: rows[name] for name in task.shape.schema.names}
    flags = is_deleted(rows)
    if flags is not None:
        columns[IS_DELETED] = flags
    return pa.table(columns)


def _write_log(storage: Storage, task: WriteTask, partition: str, name: LogName, rows: pa.Table) -> WrittenFile:
    """Write one log file with a data block for the rows and a delete block for the deletes."""
    shape = task.shape
    kept, deleted = rows, rows.slice(0, 0)
    flags = is_deleted(rows)
    if flags is not None:
        kept, deleted = rows.filter(pc.invert(flags)), rows.filter(flags)
    blocks = []
    if len(kept):
        stored, is_partial = kept.select(shape.block_columns(task.sets)), task.sets is not None
        blocks.append(encode_data(stored, shape.log_format, task.instant, shape.avro_schema, partial=is_partial))
    if len(deleted):
        blocks.append(delete_block(deleted, partition, task.instant, shape))
    data = b"".join(blocks)
    path = put_data_file(storage, task.instant, partition, str(name), data)
    bounded = [each for each in shape.schema.names[:COLUMNS] if task.sets is None or each in kept.column_names]
    bounds = bounds_of(kept, bounded)
    written = WrittenFile(path, partition, name.file_id, len(data), len(kept), len(deleted), name.version)
    return replace(written, bounds=bounds, checksum=checksum_of(data))


def delete_block(deletes: pa.Table, partition: str, instant: str, shape: TableShape) -> bytes:
    keys = one_array(deletes[RECORD_KEY])
    name = shape.merge.ordering
    orderings = None if name is None else one_array(deletes[name])
    return encode_deletes(keys, partition, orderings, instant, shape.avro_schema)
