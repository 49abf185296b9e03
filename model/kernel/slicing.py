"""File slicing assigns each log to a file slice. A log belongs to the slice of the greatest barrier at or before the
completion time of the log's write.

RFC-66, "Pseudocode for New File Slicing", says "less than". Times are unique, so both wordings state the same rule. A
barrier is the requested time of a compaction plan of the file group, pending or completed. A log that completed before
all barriers belongs to a slice without a barrier. Variants replace functions of this module in `rules`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from .table import Log, Table, Write

if TYPE_CHECKING:
    from ..rules import Rules


def barrier_of(rules: Rules, write: Write, group: int, among: tuple[int, ...]) -> int | None:
    """The greatest barrier at or before the slice time of a write; None if every barrier is after that time."""
    at = rules.slice_time(write, group)
    return max([barrier for barrier in among if barrier <= at], default=None)


def slice_time(write: Write, group: int) -> float:
    """The write's completion time; infinity for a pending write, which will complete after all present barriers."""
    return write.completed or inf


def barriers(rules: Rules, table: Table, group: int) -> tuple[int, ...]:
    """The barriers of a file group, ascending: the requested times of its compaction plans, pending or completed."""
    return tuple(sorted({requested for requested, _ in rules.bases(table, group)}))


def bases(table: Table, group: int) -> list[tuple[int, int | None]]:
    """The base files of a file group, as pairs for each plan: (requested time, completion time or None)."""
    return [(p.requested, done) for p, done in zip(table.plans, table.completed, strict=True) if p.part_in(group)]


def slices(rules: Rules, table: Table, group: int) -> dict[int | None, tuple[Write, ...]]:
    """Map None (no barrier), then each barrier in ascending order, to the writes with logs in that slice."""
    among = rules.barriers(rules, table, group)
    members: dict[int | None, tuple[Write, ...]] = dict.fromkeys((None, *among), ())
    for write in rules.sliced_writes(rules, table, group):
        members[barrier_of(rules, write, group, among)] += (write,)
    return members


@lru_cache(maxsize=1 << 12)
def writes_by_slice(rules: Rules, table: Table, group: int) -> dict[int | None, tuple[Write, ...]]:
    """Return the slices of a file group according to `rules`. The slices are memoised."""
    return rules.slices(rules, table, group)


def sliced_writes(rules: Rules, table: Table, group: int) -> list[Write]:
    """The writes whose logs are in a slice: every write with logs in the file group."""
    return [write for write in table.writes if rules.logs_of(write, group)]


def base_files(rules: Rules, table: Table, group: int, time: float) -> set[int]:
    """The barriers whose base file is visible at `time`, because the plan of the base file had completed by then."""
    return {at for at, completed in rules.bases(table, group) if completed and rules.is_visible(at, completed, time)}


# The order in which the logs of a slice merge.


log_files = Write.files_in


def in_order(writes: Iterable[Write], group: int) -> tuple[Write, ...]:
    """Return writes in the merge order of their logs: by completion time, pending writes last."""
    return tuple(sorted(writes, key=lambda write: (write.completed or inf, write.requested)))


def log_time(rules: Rules, table: Table, group: int, log: Log) -> float:
    """The time that orders a log in its slice: the completion time of its write."""
    return next((write.completed or inf for write in table.writes if write.requested == log[0]), inf)


def logs_by_time(rules: Rules, table: Table, group: int, logs: Iterable[Log]) -> tuple[Log, ...]:
    """The given logs, sorted in merge order."""
    return tuple(sorted(logs, key=lambda log: (rules.log_time(rules, table, group, log), log)))


def logs_in_order(rules: Rules, writes: Iterable[Write], group: int) -> tuple[Log, ...]:
    """The logs of some writes in one file group, in merge order."""
    return tuple([log for write in rules.in_order(writes, group) for log in rules.logs_of(write, group)])


def merged_logs(rules: Rules, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
    """The logs of `writes` that a read as of `time` merges, in merge order: in the kernel all of them."""
    return logs_in_order(rules, writes, group)
