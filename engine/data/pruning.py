"""Selects the file groups that can contain a row that matches a predicate, by partition path and bucket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..names import bucket_of, generation_of
from .bucket import key_hashes
from .keys import hashed_values, partition_values
from .predicate import Predicate
from .ranges import Range
from .tasks import TableShape

Group = tuple[str, str]


def groups_to_read(where: Predicate, shape: TableShape, groups: Iterable[Group]) -> frozenset[Group]:
    """Return the file groups (partition, file id) that can contain a matching row. The table must be an nbcc table, in
    which partition and key columns determine the file group of a row.
    """
    listed = list(groups)
    paths = sorted({partition for partition, _ in listed})
    matching = where.among([partition_ranges(path, shape) for path in paths])
    kept = {path for path, matches in zip(paths, matching, strict=True) if matches}
    number = _hash(where.equal, shape)
    return frozenset(
        (partition, file_id)
        for partition, file_id in listed
        if partition in kept
        and (number is None or bucket_of(file_id) == number % generation_of(file_id, shape.buckets).buckets)
    )


def partition_ranges(path: str, shape: TableShape) -> dict[str, Range]:
    """Return the value ranges of the partition columns in a partition. The result omits a column if the partition path
    does not determine its value, as in the default partition.
    """
    if not shape.keys.partition_by:
        return {}
    ranges = {}
    for name, texts in partition_values(pa.array([path]), shape.keys).items():
        try:
            value = texts.cast(shape.schema.field(name).type)[0]
        except pa.ArrowInvalid:
            continue
        if value.is_valid:
            ranges[name] = Range(value, value, nulls=False)
    return ranges


def _hash(equal: Mapping[str, Any], shape: TableShape) -> int | None:
    """Return the hash of the rows whose columns have the values in `equal`; None if the values do not determine it."""
    names: Sequence[str] = shape.keys.record_key
    if not equal.keys() >= {*names}:
        return None
    try:
        row = pa.table({name: pa.array([equal[name]], shape.schema.field(name).type) for name in names})
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return int(key_hashes(hashed_values(row, shape.keys))[0])
