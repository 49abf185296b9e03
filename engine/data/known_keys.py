"""Compares the keys of a batch with the record index of the table, and puts the locations of keys into the index."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import BadInput
from ..files.record_index import KnownKeys, put_locations
from ..names import Generation, Names, bucket_file_id
from ..storage import Storage
from .bucket import buckets_of
from .check import OF_INDEX, Problem, listed
from .codes import Mask
from .columns import PARTITION_PATH, RECORD_KEY, is_deleted, one_array
from .keys import hashed_values, partition_paths, record_keys
from .passes import slice_parts
from .tasks import IndexTask, TableShape, WriteTask, WrittenFile

_BETWEEN: Final = "\0"  # in no partition path, so that a path and a key make one text


def unknown_keys(storage: Storage, rows: pa.Table, task: WriteTask) -> list[Problem]:
    """Return the rules of the record index that the rows violate. A delete of an unknown key inserts nothing."""
    if task.known is None or not len(rows):
        return []
    known = task.known.locations(storage, file_ids_of(rows, task.shape, task.generation))
    keys, paths = one_array(record_keys(rows, task.shape.keys)), one_array(partition_paths(rows, task.shape.keys))
    absent, elsewhere = _compared(keys, paths, known, in_table=task.known.in_table)
    flags = is_deleted(rows)
    inserted = absent & ~one_array(flags).to_numpy(zero_copy_only=False) if flags is not None else absent
    return listed(zip(OF_INDEX, (inserted & (not task.known.inserts), elsewhere), strict=True), rows, task.shape)


def file_ids_of(rows: pa.Table, shape: TableShape, generation: int) -> list[str]:
    """Return the file ids, which are the same in each partition, of the buckets of the rows."""
    buckets = np.unique(buckets_of(hashed_values(rows, shape.keys), shape.buckets)).tolist()
    return [bucket_file_id(bucket, Generation(generation, shape.buckets)) for bucket in buckets]


def _compared(keys: pa.Array, paths: pa.Array, known: pa.Table, *, in_table: bool) -> tuple[Mask, Mask]:
    """Return a mask of the keys without a location, and a mask of those whose location is in another partition."""
    there, homes = one_array(known[RECORD_KEY]), one_array(known[PARTITION_PATH])
    if not in_table:
        there, keys = _joined(homes, there), _joined(paths, keys)
    places = pc.index_in(keys, value_set=there)
    absent = places.is_null().to_numpy(zero_copy_only=False)
    if not in_table:
        return absent, np.zeros(len(keys), np.bool_)
    return absent, pc.fill_null(pc.not_equal(homes.take(places), paths), False).to_numpy(zero_copy_only=False)


def _joined(paths: pa.Array, keys: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(paths.cast(pa.string()), keys, _BETWEEN)


def key_in_two_partitions(storage: Storage, own: KnownKeys, others: KnownKeys) -> str | None:
    """Return a key of the index files `own` that they or `others` have in two partitions; None if there is none. The
    files of one bucket are in memory at a time.
    """
    for file_id in sorted({file.file_id for file in own.files}):
        ours, theirs = (known.locations(storage, [file_id]) for known in (own, others))
        both = pa.concat_tables([ours, theirs.filter(pc.is_in(theirs[RECORD_KEY], one_array(ours[RECORD_KEY])))])
        if twice := _in_two_partitions(both):
            return twice
    return None


def _in_two_partitions(locations: pa.Table) -> str | None:
    counted = locations.group_by(RECORD_KEY).aggregate([(PARTITION_PATH, "count_distinct")])
    twice = counted.filter(pc.greater(counted[f"{PARTITION_PATH}_count_distinct"], 1))
    return min(twice[RECORD_KEY].to_pylist(), default=None)


def index_keys(storage: Storage, names: Names, task: IndexTask) -> list[WrittenFile]:
    """Put the keys of the rows in one bucket into a file of the index. Raises `BadInput` for a key in two partitions,
    if the index allows one.
    """
    columns = (RECORD_KEY, PARTITION_PATH)
    slices = [replace(each, columns=columns) for each in task.slices]
    found = pa.concat_tables([part.select(columns) for each in slices for part in slice_parts(storage, each)])
    if task.in_table and (twice := _in_two_partitions(found)):
        exists = f"the key {twice} is in two partitions"
        remedy = "delete it from one of them, or use an index of the type RECORD_LEVEL_INDEX"
        raise BadInput("make a record index of the whole table", exists, remedy)
    keys, paths = (one_array(found[name]).cast(pa.string()) for name in columns)
    path = put_locations(storage, task.instant, task.file_id, names.write_token(), keys, paths)
    return [WrittenFile(path, "", task.file_id, 0, len(found), 0)]
