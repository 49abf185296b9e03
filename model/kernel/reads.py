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
from typing import TYPE_CHECKING

from .merge import NOTHING, Fold
from .slicing import base_files, logs_by_time, logs_in_order, writes_by_slice
from .table import Log, Table, Write

if TYPE_CHECKING:
    from ..rules import Rules


def is_visible(requested: int, completed: int | None, time: float) -> bool:
    """True if a read as of `time` includes an instant, because the instant completed at or before `time`."""
    return completed is not None and completed <= time


def visible(rules: Rules, writes: tuple[Write, ...], time: float) -> tuple[Write, ...]:
    return tuple([w for w in writes if rules.is_visible(w.requested, w.completed, time)])


def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """Return the files that a read of one file group as of `time` merges. For a snapshot, `time` is infinity."""
    return rules.as_of(rules, table, group, time)


def newest_state(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """Return the newest base file visible at `time`, merged with the visible logs in its slice and in newer slices."""
    barrier, writes = rules.base_and_writes(rules, table, group, time)
    return slice_fold(rules, table, group, barrier, rules.merged_logs(rules, table, group, writes, time))


def base_and_writes(rules: Rules, table: Table, group: int, time: float) -> tuple[int | None, tuple[Write, ...]]:
    """Return the requested time of the base file of a read as of `time`, and the writes whose logs the read merges."""
    bases = base_files(rules, table, group, time)
    writes: tuple[Write, ...] = ()
    for barrier, members in rules.newest_first(rules, table, group, time):
        writes += visible(rules, members, time)
        if barrier in bases:
            return barrier, writes
    return None, writes


def newest_first(rules: Rules, table: Table, group: int, time: float) -> Iterator[tuple[int | None, tuple[Write, ...]]]:
    """Return the slices of a file group in the order in which a read searches for its base file: newest first."""
    return reversed(writes_by_slice(rules, table, group).items())


@lru_cache(maxsize=1 << 12)
def base_file(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """Return the merge tree of the base file of the plan with requested time `barrier`; None if no such plan exists."""
    return rules.base_file(rules, table, group, barrier)


def compacted(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """Return the inputs of the plan with requested time `barrier` as a merge tree; None if no such plan exists."""
    plan = next((plan for plan in table.plans if plan.requested == barrier), None)
    part = plan.part_in(group) if plan is not None else None
    if plan is None or part is None:
        return None
    listed = rules.instants_with_logs(table, group)
    known = logs_by_time(rules, table, group, (log for log in part.logs if log[0] in listed))
    # A plan may include a log of a write that is still pending. No completed instant lists that log.
    unlisted = sorted(log for log in part.logs if log not in known)
    return slice_fold(rules, table, group, part.base, (*known, *unlisted))


def slice_fold(rules: Rules, table: Table, group: int, barrier: int | None, logs: tuple[Log, ...]) -> Fold:
    """Return the merge tree of `logs`, on top of the base file of the plan with requested time `barrier`, if any."""
    return rules.fold_of(rules, table, group, barrier, base_file(rules, table, group, barrier), logs)


def fold_of(
    rules: Rules, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
) -> Fold:
    """Return the merge tree of a base file and logs: the base file first, then each log."""
    return Fold(base, logs)


def read_optimized(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """Return the newest base file of a file group as of `time`, without logs."""
    shape = as_of(rules, table, group, time)
    return Fold(shape.base, ()) if shape.base is not None else NOTHING


def in_window(table: Table, after: float, until: float) -> tuple[Write, ...]:
    """Return the writes that completed in the window (after, until]."""
    return tuple([w for w in table.writes if w.completed is not None and after < w.completed <= until])


def incremental(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Return the files that an incremental query of the window (after, until] merges in one file group."""
    return rules.incremental(rules, table, group, after, until)


def window(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Return the merge tree of only the logs whose writes completed in the window (after, until]."""
    return slice_fold(rules, table, group, None, rules.window_logs(rules, table, group, after, until))


def window_logs(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
    """Return the logs that an incremental query of the window (after, until] merges, in merge order."""
    return logs_in_order(rules, rules.window_writes(rules, table, group, after, until), group)


def window_writes(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Write, ...]:
    """Return the writes whose logs an incremental query of the window (after, until] merges in a file group."""
    return rules.in_window(table, after, until)


def changes(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Fold, Fold]:
    """Return the merge trees as of `after` and as of `until`, whose rows a change log compares."""
    return as_of(rules, table, group, after), as_of(rules, table, group, until)
