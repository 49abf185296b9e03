"""A log file belongs to the file slice with the greatest barrier at or before the log's completion time.

A barrier is the requested time of a pending or completed compaction plan of the file group. A log that completed before
all barriers belongs to a slice without a barrier. RFC-66, "Pseudocode for New File Slicing", says "less than" instead
of "at or before", which makes no difference because times are unique. A variant (alternative rule, selected by an
option) overrides a method of `SlicingRules`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf

from .table import Log, Table, Write

BySlice = dict[int | None, tuple[Write, ...]]
"""The barrier of each slice (None: no barrier) -> the slice's writes, oldest slice first."""


class SlicingRules:
    """The rules that decide in which slice a log is, and the order in which the logs of a slice merge."""

    def slice_time(self, write: Write, group: int) -> float:
        """Return the time that determines a write's file slice: its completion time; infinity for a pending write."""
        return write.completed or inf

    def bases(self, table: Table, group: int) -> list[tuple[int, int | None]]:
        """Return a pair (requested time, completion time or None) for each compaction plan of a file group."""
        return [(p.requested, done) for p, done in zip(table.plans, table.completed, strict=True) if p.part_in(group)]

    def barriers(self, table: Table, group: int) -> tuple[int, ...]:
        """Return the requested times of a file group's pending and completed compaction plans, in ascending order."""
        return tuple(sorted({requested for requested, _ in self.bases(table, group)}))

    def sliced_writes(self, table: Table, group: int) -> list[Write]:
        """Return the writes that have a log in the file group."""
        return [write for write in table.writes if self.logs_of(write, group)]

    def slices(self, table: Table, group: int) -> BySlice:
        """Return the writes of each slice of a file group."""
        among = self.barriers(table, group)
        members: BySlice = dict.fromkeys((None, *among), ())
        for write in self.sliced_writes(table, group):
            members[barrier_of(self, write, group, among)] += (write,)
        return members

    def logs_of(self, write: Write, group: int) -> tuple[Log, ...]:
        """Return the logs that a write put in one file group."""
        return write.files_in(group)

    def in_order(self, writes: Iterable[Write], group: int) -> tuple[Write, ...]:
        """Return writes in the order in which their logs merge: by completion time, pending writes last."""
        return tuple(sorted(writes, key=lambda write: (write.completed or inf, write.requested)))

    def log_time(self, table: Table, group: int, log: Log) -> float:
        """Return the time that orders a log within its file slice: the completion time of the log's write."""
        return next((write.completed or inf for write in table.writes if write.requested == log[0]), inf)

    def merged_logs(self, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
        """Return the logs of `writes` in merge order."""
        return logs_in_order(self, writes, group)


def barrier_of(rules: SlicingRules, write: Write, group: int, among: tuple[int, ...]) -> int | None:
    """Return the barrier of the file slice to which a write's logs belong: one of `among`, or None (no barrier)."""
    at = rules.slice_time(write, group)
    return max([barrier for barrier in among if barrier <= at], default=None)


@lru_cache(maxsize=1 << 12)
def writes_by_slice(rules: SlicingRules, table: Table, group: int) -> BySlice:
    """Return the cached result of `rules.slices`."""
    return rules.slices(table, group)


def logs_by_time(rules: SlicingRules, table: Table, group: int, logs: Iterable[Log]) -> tuple[Log, ...]:
    """Return the given logs, sorted in merge order."""
    return tuple(sorted(logs, key=lambda log: (rules.log_time(table, group, log), log)))


def logs_in_order(rules: SlicingRules, writes: Iterable[Write], group: int) -> tuple[Log, ...]:
    """Return the logs that the given writes put in one file group, in merge order."""
    return tuple([log for write in rules.in_order(writes, group) for log in rules.logs_of(write, group)])
