"""Reads the rows of a file slice that a predicate selects, and skips data that cannot change the answer.

A row that does not match may still determine which row of its key wins. For example, a base file's row of higher rank
hides a matching row of a log. Therefore:

- A slice is skipped only if neither its base file nor any of its logs can contain a matching row.
- Otherwise every log is read. Row groups of the base file that cannot match are skipped. If a log can match, the rows
  of the skipped row groups take part in the merge as deletes: with key and ordering value only, and without a result.
- If records are merged by column or by function, a merged row has values of several records. Only ranges of the key
  columns apply then, because all records of a key have equal key columns.
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
    """The parts of a base file that a read needs: the row groups whose rows can match, and the row groups whose keys
    the merge needs.
    """

    groups: list[int]
    keys_of: list[int]


def can_match(where: Predicate, shape: TableShape, logs: Sequence[LogInput]) -> bool:
    """Return False if no row of these logs can match."""
    return any(log.ranges is None or where.may_match(_of_log(log.ranges, where, shape)) for log in logs)


def window_can_match(where: Predicate, task: WindowTask) -> bool:
    """Return False if no record of a window's files can match. A delete has only its key, partition and ordering."""
    if task.bases or can_match(where, task.shape, task.logs):
        return True
    known = {*_identity(task.shape), *task.shape.merge.always, task.shape.merge.ordering}
    deleted: Ranges = {name: ONLY_NULLS for name in task.shape.schema.names if name not in known}
    has_deletes = any(log.ranges is None or log.ranges.deletes for log in task.logs)
    return has_deletes and (not _by_row(task.shape) or where.may_match(deleted))


def parts_of_base(where: Predicate, task: ReadTask, file: RangedFile) -> Parts | None:
    """Return the parts of the base file that the read needs; None if the slice has no matching row."""
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
    """Return the row groups without matching rows that can contain the key of a matching log row."""
    by_key = where.among([_of_keys(each, shape) for each in ranges])
    return [number for number, matches in enumerate(matching) if not matches and by_key[number]]


def base_layer(file: RangedFile, parts: Parts, shape: TableShape, needed: Sequence[str] | None) -> Layer:
    """Return the layer of a base file: the rows that can match, and the other rows as deletes of equal rank."""
    rows = conform(file.read(needed, parts.groups), shape.packed_schema)
    kept = file.read(columns_of_keys(shape), parts.keys_of)
    return Layer(rows, conform(kept, shape.deletes_schema), base=True)


def columns_of_keys(shape: TableShape) -> list[str]:
    """Return the columns of rows that take part in a merge as deletes."""
    ordering = [shape.merge.ordering] if shape.merge.ordering else []
    return [COMMIT_TIME, RECORD_KEY, PARTITION_PATH, *ordering]


def _by_row(shape: TableShape) -> bool:
    """Return True if each merged row equals one record, instead of combining several records."""
    return not shape.merge.partial and not shape.merge.function


def _of_log(log: LogRanges, where: Predicate, shape: TableShape) -> Ranges:
    ranges = ranges_of_log(log, where.schema)
    return ranges if _by_row(shape) else _of_keys(ranges, shape)


def _of_keys(ranges: Ranges, shape: TableShape) -> Ranges:
    return {name: known for name, known in ranges.items() if name in _identity(shape)}


def _identity(shape: TableShape) -> tuple[str, ...]:
    """Return the columns in which all records of a key agree."""
    return (*shape.keys.record_key, *shape.keys.partition_by)
