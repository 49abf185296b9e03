"""File slicing: a log belongs to the slice of the greatest barrier at or before its completion time.

RFC-66, "Pseudocode for New File Slicing", which writes "less than": times are unique. A barrier is the requested time
of a base file, or of a pending plan, of the group. A log that completed before all of them is in a slice without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from .table import Log, Table, Write

if TYPE_CHECKING:
    from ..rules import Rules


def slice_time(write: Write, group: int) -> float:
    """The time that assigns the logs of a write to a slice. A log of a pending write is in the newest slice."""
    return write.completed or inf


def bases(table: Table, group: int) -> list[tuple[int, int | None]]:
    """The base files of a file group: the requested and completion time of each plan, None while it is pending."""
    return [(p.requested, done) for p, done in zip(table.plans, table.completed, strict=True) if p.part_in(group)]


def barriers(rules: Rules, table: Table, group: int) -> tuple[int, ...]:
    """The barriers of a file group, ascending: the requested times of its base files, pending ones included."""
    return tuple(sorted({requested for requested, _ in rules.bases(table, group)}))


def barrier_of(rules: Rules, write: Write, group: int, among: tuple[int, ...]) -> int | None:
    """The barrier of the slice to which the logs of a write belong: the greatest one at or before its slice time."""
    at = rules.slice_time(write, group)
    return max([barrier for barrier in among if barrier <= at], default=None)


def sliced_writes(rules: Rules, table: Table, group: int) -> list[Write]:
    """The writes whose logs are in a slice: every write that has logs in the file group."""
    return [write for write in table.writes if rules.logs_of(write, group)]


def slices(rules: Rules, table: Table, group: int) -> dict[int | None, tuple[Write, ...]]:
    """Barrier -> the writes that have logs in that slice; the slice without barrier first, then ascending."""
    among = rules.barriers(rules, table, group)
    members: dict[int | None, tuple[Write, ...]] = dict.fromkeys((None, *among), ())
    for write in rules.sliced_writes(rules, table, group):
        members[barrier_of(rules, write, group, among)] += (write,)
    return members


@lru_cache(maxsize=1 << 12)
def writes_by_slice(rules: Rules, table: Table, group: int) -> dict[int | None, tuple[Write, ...]]:
    """Barrier -> the writes that have logs in that slice, by these rules."""
    return rules.slices(rules, table, group)


def log_files(write: Write, group: int) -> tuple[Log, ...]:
    """The log files of a write in a file group, versions ascending."""
    return write.files_in(group)


def in_order(writes: Iterable[Write], group: int) -> tuple[Write, ...]:
    """Writes in the order in which their logs of a file group merge: by completion, pending ones last."""
    return tuple(sorted(writes, key=lambda write: (write.completed or inf, write.requested)))


def log_time(rules: Rules, table: Table, group: int, log: Log) -> float:
    """The time that orders a log among those of its slice: the completion of its write."""
    return next((write.completed or inf for write in table.writes if write.requested == log[0]), inf)


def logs_by_time(rules: Rules, table: Table, group: int, logs: Iterable[Log]) -> tuple[Log, ...]:
    """Logs in the order in which they merge."""
    return tuple(sorted(logs, key=lambda log: (rules.log_time(rules, table, group, log), log)))


def logs_in_order(rules: Rules, writes: Iterable[Write], group: int) -> tuple[Log, ...]:
    """The logs of some writes in one file group, in the order in which they merge."""
    return tuple([log for write in rules.in_order(writes, group) for log in rules.logs_of(write, group)])


def merged_logs(rules: Rules, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
    """The logs that a read as of `time` merges for these writes: all of them, in order."""
    return logs_in_order(rules, writes, group)


def base_files(rules: Rules, table: Table, group: int, time: float) -> set[int]:
    """The barriers of a file group whose base file is visible at `time`: its plan has completed by then."""
    return {at for at, completed in rules.bases(table, group) if completed and rules.is_visible(at, completed, time)}
