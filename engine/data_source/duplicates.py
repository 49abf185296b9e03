"""Detects keys whose rows were written by several Spark tasks of one write, and combines the rows of each such key.

Each Spark task returns 12 bytes per row: a fingerprint (row hash) and the number of the file group. Rows with the same
key and equal ordering values have equal fingerprints. If two Spark tasks return the same fingerprint, the committing
process reads the file group again and combines the rows with equal keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..data.bucket import string_hash
from ..data.columns import IS_DELETED, conform, one_array
from ..data.keys import key_columns, partition_paths, record_keys
from ..data.read import log_layers
from ..data.tasks import LogInput, TableShape, WriteTask, WrittenFile
from ..data.write import bucket_column
from ..names import bucket_of
from ..storage import Storage

Group = tuple[str, int]
"""(partition, bucket)."""


class Fingerprints(NamedTuple):
    """The distinct fingerprints (row hashes) of a Spark task in ascending order, each with the index of its file group
    in `groups`.
    """

    marks: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int32]
    groups: tuple[Group, ...]


def fingerprints(rows: pa.Table, shape: TableShape) -> Fingerprints:
    """Return the fingerprint of each row: a hash of partition and key, and in an event-time table also of the ordering
    value.

    In an event-time table, rows with different ordering values need not be combined, because reads rank the rows of a
    commit by ordering value.
    """
    paths = one_array(partition_paths(rows, shape.keys))
    parts = [paths, record_keys(rows, shape.keys)]
    if shape.merge.ranked_by is not None:
        parts.append(one_array(rows[shape.merge.ranked_by]).cast(pa.string()))
    text = pc.binary_join_element_wise(*parts, "\0")
    marks = _mixed(text)
    names = paths.dictionary_encode()
    places = names.indices.to_numpy() * shape.buckets + one_array(bucket_column(rows, shape)).to_numpy()
    marks, first = np.unique(marks, return_index=True)
    groups, numbers = np.unique(places[first], return_inverse=True)
    known = tuple((names.dictionary[int(g) // shape.buckets].as_py(), int(g) % shape.buckets) for g in groups)
    return Fingerprints(marks, numbers.astype(np.int32), known)


def _mixed(text: pa.Array) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash of each string, composed of the Java hash of the string and the Java hash of the reversed
    string. Hash collisions cost time but do not change the result.
    """
    forward, backward = string_hash(text), string_hash(pc.utf8_reverse(text))
    return forward.astype(np.uint64) << np.uint64(32) | backward.astype(np.uint64)


def shared_groups(tasks: Sequence[Fingerprints]) -> frozenset[Group]:
    """Return the file groups in which several Spark tasks reported the same fingerprint (row hash)."""
    if len(tasks) < 2:
        return frozenset()
    marks, counts = np.unique(np.concatenate([task.marks for task in tasks]), return_counts=True)
    twice = marks[counts > 1]
    return frozenset(
        task.groups[number]
        for task in tasks
        for number in np.unique(task.places[np.isin(task.marks, twice, assume_unique=True)])
    )


def combined(
    storage: Storage,
    task: WriteTask,
    files: Sequence[WrittenFile],
    shared: frozenset[Group],
    rewrite: Callable[[pa.Table], Sequence[WrittenFile]],
) -> list[WrittenFile]:
    """Return the data files to commit. `rewrite` combines the rows of each file group in `shared` and writes them to
    new files.

    The original files of these file groups are not committed; the table service `collect` deletes them later.
    """
    groups: dict[Group, list[WrittenFile]] = {}
    for file in files:
        groups.setdefault((file.partition, bucket_of(file.file_id) or 0), []).append(file)
    committed = [file for group, there in groups.items() if group not in shared for file in there]
    for group in sorted(shared):
        parts = [part for file in groups[group] for part in rows_of_log(storage, file, task)]
        committed += rewrite(pa.concat_tables(parts))
    return committed


def rows_of_log(storage: Storage, file: WrittenFile, task: WriteTask) -> Iterator[pa.Table]:
    """Return the rows and deletes of a log file, with the columns of the batch."""
    shape = task.shape
    schema = shape.schema if IS_DELETED in shape.schema.names else shape.schema.append(pa.field(IS_DELETED, pa.bool_()))
    for layer in log_layers(storage, LogInput(file.path, task.instant, file.size, checksum=file.checksum), shape):
        rows = layer.rows
        if IS_DELETED not in rows.column_names:
            rows = rows.append_column(IS_DELETED, pa.repeat(False, len(rows)))
        yield conform(rows, schema)
        known = {name: layer.deletes[name] for name in layer.deletes.column_names if name in schema.names}
        known |= key_columns(layer.deletes, shape.keys, shape.schema)
        yield conform(pa.table(known | {IS_DELETED: pa.repeat(True, len(layer.deletes))}), schema)
