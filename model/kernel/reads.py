"""Defines what each kind of read of a file group returns. An instant is visible at T if it completed at or before T.

    A read as of T merges the newest base file visible at T with the visible logs of that file's slice and newer slices.
    The newer slices include slices of pending plans (RFC-66, "Time Travel Queries").
    A snapshot is the read as of infinity: it includes everything that has completed.
    A read-optimised read returns the newest base file, without logs.
    An incremental read merges the logs of the writes that completed in (T0, T1] (RFC-66, "Incremental/CDC Queries").
    A change log is the difference between the read as of T0 and the read as of T1 (see `changes`).
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
    """True if a read as of `time` includes an instant: the instant completed at or before `time`."""
    return completed is not None and completed <= time


def visible(rules: Rules, writes: tuple[Write, ...], time: float) -> tuple[Write, ...]:
    return tuple([w for w in writes if rules.is_visible(w.requested, w.completed, time)])


def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """Return the read of one file group as of `time` according to `rules`. The snapshot is the read as of infinity."""
    return rules.as_of(rules, table, group, time)


def newest_state(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """The newest base file visible at `time`, and the visible logs in its slice and in newer slices."""
    barrier, writes = rules.base_and_writes(rules, table, group, time)
    return slice_fold(rules, table, group, barrier, rules.merged_logs(rules, table, group, writes, time))


def base_and_writes(rules: Rules, table: Table, group: int, time: float) -> tuple[int | None, tuple[Write, ...]]:
    """Return the barrier of the base file that a read as of `time` uses, and the writes whose logs the read merges."""
    bases = base_files(rules, table, group, time)
    writes: tuple[Write, ...] = ()
    for barrier, members in rules.newest_first(rules, table, group, time):
        writes += visible(rules, members, time)
        if barrier in bases:
            return barrier, writes
    return None, writes


def newest_first(rules: Rules, table: Table, group: int, time: float) -> Iterator[tuple[int | None, tuple[Write, ...]]]:
    """The slices that a read as of `time` visits, newest first. Later slices have no log visible at `time`."""
    return reversed(writes_by_slice(rules, table, group).items())


@lru_cache(maxsize=1 << 12)
def base_file(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """The content of the base file with this barrier, memoised; None if no plan has the barrier."""
    return rules.base_file(rules, table, group, barrier)


def compacted(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """Return the inputs of the plan with this barrier as a merge tree: its base file, then its logs in merge order."""
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
    """The base file with this barrier (if it exists) merged with logs."""
    return rules.fold_of(rules, table, group, barrier, base_file(rules, table, group, barrier), logs)


def fold_of(
    rules: Rules, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
) -> Fold:
    """The merge tree of a base file and logs: the base file first, then each log."""
    return Fold(base, logs)


def read_optimized(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """The newest base file of the group as of `time`, without logs."""
    shape = as_of(rules, table, group, time)
    return Fold(shape.base, ()) if shape.base is not None else NOTHING


def in_window(table: Table, after: float, until: float) -> tuple[Write, ...]:
    """The writes that completed in (after, until]."""
    return tuple([w for w in table.writes if w.completed is not None and after < w.completed <= until])


def incremental(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """The incremental read of the window (after, until] in one file group according to `rules`."""
    return rules.incremental(rules, table, group, after, until)


def window(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """The logs of the writes that completed in the window (after, until], merged with each other."""
    return slice_fold(rules, table, group, None, rules.window_logs(rules, table, group, after, until))


def window_logs(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
    """The logs that a window merges, in merge order."""
    return logs_in_order(rules, rules.window_writes(rules, table, group, after, until), group)


def window_writes(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Write, ...]:
    """The writes whose logs a window merges in a file group."""
    return rules.in_window(table, after, until)


def changes(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Fold, Fold]:
    """The two states whose difference is the change log of (after, until]."""
    return as_of(rules, table, group, after), as_of(rules, table, group, until)
