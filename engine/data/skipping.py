"""Determines the row groups of a base file that a read with a predicate can skip.

A base file row that does not match the predicate may outrank a matching row in a log. A file slice is skipped only if
neither its base file nor any of its logs can contain a matching row. In any other slice, all logs are read, but row
groups of the base file that cannot contain a matching row are skipped. If a log can contain a matching row, the keys of
these row groups are read nevertheless, because their rows may outrank the matching row.

With partial updates or a merge function, data is skipped only by key and partition columns, which are equal in all
records of a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY, conform
from .layers import Layer
from .predicate import Predicate
from .ranged_file import RangedFile
from .ranges import ONLY_NULLS, LogRanges, Ranges, ranges_of_groups, ranges_of_log
from .tasks import LogInput, ReadTask, TableShape, WindowTask


class Parts(NamedTuple):
    """The parts of a base file that a read needs. `groups` lists the row groups that may contain matching rows.
    `keys_of` lists the row groups of which the merge needs only the keys.
    """

    groups: list[int]
    keys_of: list[int]


def can_match(where: Predicate, shape: TableShape, logs: Sequence[LogInput]) -> bool:
    """Return False if no row in the logs can match the predicate."""
    return any(log.ranges is None or where.may_match(_of_log(log.ranges, where, shape)) for log in logs)


def window_can_match(where: Predicate, task: WindowTask) -> bool:
    """Return False if no record in the files of an incremental query can match the predicate. Deletes have values only
    in key, partition and ordering columns.
    """
    if task.bases or can_match(where, task.shape, task.logs):
        return True
    known = {*_identity(task.shape), *task.shape.merge.always, task.shape.merge.ordering}
    deleted: Ranges = {name: ONLY_NULLS for name in task.shape.schema.names if name not in known}
    has_deletes = any(log.ranges is None or log.ranges.deletes for log in task.logs)
    return has_deletes and (not _by_row(task.shape) or where.may_match(deleted))


def parts_of_base(where: Predicate, task: ReadTask, file: RangedFile) -> Parts | None:
    """Return the parts of the base file that a read needs, or None if the slice has no matching row."""
    shape = task.shape
    merges = not task.base_only
    logs = (*task.tombstones, *task.logs)
    ranges: list[Ranges] = [*ranges_of_groups(file.metadata, file.schema, where.schema)]
    if merges and not _by_row(shape):
        ranges = [_of_keys(each, shape) for each in ranges]
    matching = where.among(ranges)
    groups = [number for number, matches in enumerate(matching) if matches]
    log_matches = merges and can_match(where, shape, logs)
    if not groups and not log_matches:
        return None
    if not log_matches or shape.merge.ranked_by is None or not _by_row(shape):
        return Parts(groups, [])  # no skipped row hides a matching row
    return Parts(groups, hiding_groups(where, shape, ranges, matching))


def hiding_groups(
    where: Predicate, shape: TableShape, ranges: Sequence[Ranges], matching: Sequence[bool]
) -> list[int]:
    """Return the row groups that contain no matching row, but may contain the key of a matching log row."""
    by_key = where.among([_of_keys(each, shape) for each in ranges])
    return [number for number, matches in enumerate(matching) if not matches and by_key[number]]


def base_layer(file: RangedFile, parts: Parts, shape: TableShape, needed: Sequence[str] | None) -> Layer:
    """Return the rows of a base file that can match the predicate. For the row groups `parts.keys_of`, only the keys
    are read, and the rows are represented as deletes.
    """
    rows = conform(file.read(needed, parts.groups), shape.packed_schema)
    kept = file.read(columns_of_keys(shape), parts.keys_of)
    return Layer(rows, conform(kept, shape.deletes_schema), base=True)


def columns_of_keys(shape: TableShape) -> list[str]:
    """Return the columns that a merge needs from a row group in which no row can match."""
    ordering = [shape.merge.ordering] if shape.merge.ordering else []
    return [COMMIT_TIME, RECORD_KEY, PARTITION_PATH, *ordering]


def _by_row(shape: TableShape) -> bool:
    """Return True if every merged row is a single record, not a combination of several."""
    return not shape.merge.partial and not shape.merge.function


def _of_log(log: LogRanges, where: Predicate, shape: TableShape) -> Ranges:
    ranges = ranges_of_log(log, where.schema)
    return ranges if _by_row(shape) else _of_keys(ranges, shape)


def _of_keys(ranges: Ranges, shape: TableShape) -> Ranges:
    return {name: known for name, known in ranges.items() if name in _identity(shape)}


def _identity(shape: TableShape) -> tuple[str, ...]:
    """Return the key and partition columns; all records of a key have the same values in these columns."""
    return (*shape.keys.record_key, *shape.keys.partition_by)
