"""Compares the keys of a batch with the record index of the table, and puts the locations of keys into the index."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import BadInput
from ..files.record_index import SCHEMA, KnownKeys, put_locations
from ..names import Generation, Names, bucket_file_id
from ..storage import Storage
from .bucket import buckets_of
from .check import OF_INDEX, Problem, listed
from .codes import Mask
from .columns import PARTITION_PATH, RECORD_KEY, is_deleted, one_array
from .index_tasks import IndexTask
from .keys import hashed_values, partition_paths, record_keys
from .passes import slice_parts
from .tasks import TableShape, WriteTask, WrittenFile

_BETWEEN: Final = "\0"  # in no partition path, so that a path and a key make one text


class InsertedKeys(NamedTuple):
    """How many rows of a task have a key that it has put into the record index, and how many one that the index has in
    another partition.
    """

    rows: int
    elsewhere: int


def unknown_keys(storage: Storage, rows: pa.Table, task: WriteTask) -> list[Problem]:
    """Return the rules of the record index that the rows violate. A delete of an unknown key inserts nothing."""
    if task.known is None or task.known.moves or not len(rows):
        return []
    known = task.known.locations(storage, file_ids_of(rows, task.shape, task.generation))
    keys, paths = one_array(record_keys(rows, task.shape.keys)), one_array(partition_paths(rows, task.shape.keys))
    absent, elsewhere = _compared(keys, paths, known, in_table=task.known.in_table)
    flags = is_deleted(rows)
    inserted = absent & ~one_array(flags).to_numpy(zero_copy_only=False) if flags is not None else absent
    return listed(zip(OF_INDEX, (inserted & (not task.known.inserts), elsewhere), strict=True), rows, task.shape)


def insert_keys(storage: Storage, names: Names, rows: pa.Table, task: WriteTask) -> InsertedKeys | None:
    """Put the locations of the keys that the record index lacks, those of each bucket into one file. A delete puts its
    location, too: else an insert of its key into another partition would not be compared with it. Returns None if the
    write does not insert keys in this way.
    """
    if task.known is None or not task.known.moves or not len(rows):
        return None
    keys, paths = one_array(record_keys(rows, task.shape.keys)), one_array(partition_paths(rows, task.shape.keys))
    known = task.known.locations(storage, file_ids_of(rows, task.shape, task.generation))
    absent, elsewhere = _compared(keys, paths, known, in_table=True)
    inserted = np.flatnonzero(absent)
    buckets = buckets_of(hashed_values(rows, task.shape.keys), task.shape.buckets)[inserted]
    found = pa.table([keys.take(pa.array(inserted)), paths.take(pa.array(inserted)).cast(pa.string())], schema=SCHEMA)
    for bucket in np.unique(buckets).tolist():
        own = found.filter(pa.array(buckets == bucket)).group_by([RECORD_KEY, PARTITION_PATH]).aggregate([])
        file_id = bucket_file_id(bucket, Generation(task.generation, task.shape.buckets))
        columns = (one_array(own[name]) for name in (RECORD_KEY, PARTITION_PATH))
        put_locations(storage, task.instant, file_id, names.write_token(), *columns)
    return InsertedKeys(len(inserted), int(elsewhere.sum()))


def homes_of(keys: pa.Array, paths: pa.Array, known: pa.Table) -> pa.Array:
    """Return the partition that has each key by the locations `known`, the first completed one first; the one in
    `paths` if it has no location.
    """
    found = one_array(known[PARTITION_PATH]).take(pc.index_in(keys, value_set=one_array(known[RECORD_KEY])))
    return pc.coalesce(found, paths)


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


def inserted_meanwhile(
    storage: Storage, own: KnownKeys, since: KnownKeys, settled: Collection[str]
) -> dict[str, bool]:
    """Return the keys of the index files `own`, without those in `settled`, that other writes have inserted by the
    locations `since`: whether into another partition. The files of one bucket are in memory at a time.
    """
    found: dict[str, bool] = {}
    for file_id in sorted({file.file_id for file in own.files}):
        theirs = since.locations(storage, [file_id])
        if not len(theirs):
            continue
        ours = own.locations(storage, [file_id])
        ours = ours.filter(pc.is_in(ours[RECORD_KEY], one_array(theirs[RECORD_KEY])))
        keys, paths = one_array(ours[RECORD_KEY]), one_array(ours[PARTITION_PATH])
        elsewhere = pc.not_equal(homes_of(keys, paths, theirs), paths)
        found |= dict(zip(keys.to_pylist(), elsewhere.to_pylist(), strict=True))
    return {key: is_elsewhere for key, is_elsewhere in found.items() if key not in settled}


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
