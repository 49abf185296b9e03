"""Defines which files of a file group a read merges. An instant is visible at T if it completed at or before T.

A read as of T merges the newest base file visible at T with the visible logs in that base file's slice and in newer
slices. Pending compaction plans also begin slices (RFC-66, "Time Travel Queries").
A snapshot query reads as of infinity, so that every completed instant is included.
A read-optimised query returns the newest base file, without logs.
An incremental query merges the logs of the writes that completed in (T0, T1] (RFC-66, "Incremental/CDC Queries").
A change log contains the differences between the rows as of T0 and the rows as of T1 (see `changes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from .merge import NOTHING, Fold
from .slicing import SlicingRules, logs_by_time, logs_in_order, writes_by_slice
from .table import Log, Table, Write


class ReadRules(SlicingRules):
    """The rules that decide which files a query merges."""

    def is_visible(self, requested: int, completed: int | None, time: float) -> bool:
        """True if a read as of `time` includes an instant, because the instant completed at or before `time`."""
        return completed is not None and completed <= time

    def is_refused(self, table: Table, time: float) -> bool:
        """True if a read as of `time` is refused. By default, no read is refused."""
        return False

    def table_as_of(self, table: Table, time: float) -> Table:
        """Return the table as of `time`: its visible writes, and the plans requested at or before `time`. A plan is
        marked as completed only if reads as of `time` may use its base files.
        """
        plans = [(p, c) for p, c in zip(table.plans, table.completed, strict=True) if p.requested <= time]
        done = tuple(c if c and self.is_visible(p.requested, c, time) else None for p, c in plans)
        return Table(visible(self, table.writes, time), tuple(p for p, _ in plans), done, table.marks)

    def as_of(self, table: Table, group: int, time: float) -> Fold:
        """Return the files that a read of one file group as of `time` merges. For a snapshot, `time` is infinity.

        The files are the newest base file visible at `time`, and the visible logs in its slice and in newer slices.
        """
        barrier, writes = self.base_and_writes(table, group, time)
        return slice_fold(self, table, group, barrier, self.merged_logs(table, group, writes, time))

    def base_and_writes(self, table: Table, group: int, time: float) -> tuple[int | None, tuple[Write, ...]]:
        """Return the requested time of the base file of a read as of `time`, and the writes whose logs the read merges.
        """
        bases = base_files(self, table, group, time)
        writes: tuple[Write, ...] = ()
        for barrier, members in self.newest_first(table, group, time):
            writes += visible(self, members, time)
            if barrier in bases:
                return barrier, writes
        return None, writes

    def newest_first(self, table: Table, group: int, time: float) -> Iterator[tuple[int | None, tuple[Write, ...]]]:
        """Return the slices of a file group in the order in which a read searches for its base file: newest first."""
        return reversed(writes_by_slice(self, table, group).items())

    def base_file(self, table: Table, group: int, barrier: int | None) -> Fold | None:
        """Return the inputs of the plan with requested time `barrier` as a merge tree; None if no such plan exists."""
        plan = next((plan for plan in table.plans if plan.requested == barrier), None)
        part = plan.part_in(group) if plan is not None else None
        if plan is None or part is None:
            return None
        listed = self.instants_with_logs(table, group)
        known = logs_by_time(self, table, group, (log for log in part.logs if log[0] in listed))
        unlisted = sorted(log for log in part.logs if log not in known)
        return slice_fold(self, table, group, part.base, (*known, *unlisted))

    def instants_with_logs(self, table: Table, group: int) -> set[int]:
        """Return the requested times of the writes that may have logs in a file group: by default, of all writes."""
        return {write.requested for write in table.writes}

    def fold_of(
        self, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
    ) -> Fold:
        """Return the merge tree of a base file and logs: the base file first, then each log."""
        return Fold(base, logs)

    def incremental(self, table: Table, group: int, after: float, until: float) -> Fold:
        """Return the files that an incremental query of the window (after, until] merges in one file group."""
        return self.window(table, group, after, until)

    def window(self, table: Table, group: int, after: float, until: float) -> Fold:
        """Return the merge tree of only the logs whose writes completed in the window (after, until]."""
        return slice_fold(self, table, group, None, self.window_logs(table, group, after, until))

    def window_logs(self, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
        """Return the logs that an incremental query of the window (after, until] merges, in merge order."""
        return logs_in_order(self, self.window_writes(table, group, after, until), group)

    def window_writes(self, table: Table, group: int, after: float, until: float) -> tuple[Write, ...]:
        """Return the writes whose logs an incremental query of the window (after, until] merges in a file group."""
        return self.in_window(table, after, until)

    def in_window(self, table: Table, after: float, until: float) -> tuple[Write, ...]:
        """Return the writes that completed in the window (after, until]."""
        return tuple([w for w in table.writes if w.completed is not None and after < w.completed <= until])


def visible(rules: ReadRules, writes: tuple[Write, ...], time: float) -> tuple[Write, ...]:
    return tuple([w for w in writes if rules.is_visible(w.requested, w.completed, time)])


def base_files(rules: ReadRules, table: Table, group: int, time: float) -> set[int]:
    """Return the requested times of the base files whose compaction completed at or before `time`."""
    return {at for at, completed in rules.bases(table, group) if completed and rules.is_visible(at, completed, time)}


@lru_cache(maxsize=1 << 12)
def base_file(rules: ReadRules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """Return the merge tree of the base file of the plan with requested time `barrier`; None if no such plan exists."""
    return rules.base_file(table, group, barrier)


def slice_fold(rules: ReadRules, table: Table, group: int, barrier: int | None, logs: tuple[Log, ...]) -> Fold:
    """Return the merge tree of `logs`, on top of the base file of the plan with requested time `barrier`, if any."""
    return rules.fold_of(table, group, barrier, base_file(rules, table, group, barrier), logs)


def read_optimized(rules: ReadRules, table: Table, group: int, time: float) -> Fold:
    """Return the newest base file of a file group as of `time`, without logs."""
    fold = rules.as_of(table, group, time)
    return Fold(fold.base, ()) if fold.base is not None else NOTHING


def changes(rules: ReadRules, table: Table, group: int, after: float, until: float) -> tuple[Fold, Fold]:
    """Return the merge trees as of `after` and as of `until`, whose rows a change log compares."""
    return rules.as_of(table, group, after), rules.as_of(table, group, until)
