"""The reads of a file group, as definitions.

    as of T           the newest slice whose base file stands at T, and every log that stands at T in that slice and in
                      later ones, also in the slices of pending plans (RFC-66, "Time Travel Queries")
    snapshot          as of infinity: everything that stands
    read-optimised    the newest base file, without logs
    incremental       the logs of the writes that completed in (T0, T1] (RFC-66, "Incremental/CDC Queries")
    changes           the difference between as of T0 and as of T1

An instant stands at T if it completed at or before T.
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


def stands(requested: int, completed: int | None, time: float) -> bool:
    """Whether a read as of `time` counts an instant: it completed at or before that time."""
    return completed is not None and completed <= time


def standing(rules: Rules, writes: tuple[Write, ...], time: float) -> tuple[Write, ...]:
    """The writes that stand at `time`."""
    return tuple([w for w in writes if rules.stands(w.requested, w.completed, time)])


def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """The read of one file group as of `time` by these rules; `time` = inf is the snapshot."""
    return rules.as_of(rules, table, group, time)


def newest_state(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """The newest base file that stands at `time`, and the logs that stand from its slice on."""
    barrier, writes = rules.base_and_writes(rules, table, group, time)
    by = rules.on_base(rules, table, group, barrier)
    return slice_fold(rules, table, group, barrier, by.merged_logs(by, table, group, writes, time))


def base_and_writes(
    rules: Rules, table: Table, group: int, time: float
) -> tuple[int | None, tuple[Write, ...]]:
    """The barrier of the base file that a read as of `time` starts from, and the writes whose logs it merges."""
    bases = base_files(rules, table, group, time)
    writes: tuple[Write, ...] = ()
    for barrier, members in rules.newest_first(rules, table, group, time):
        writes += standing(rules, members, time)
        if barrier in bases:
            return barrier, writes
    return None, writes


def newest_first(
    rules: Rules, table: Table, group: int, time: float
) -> Iterator[tuple[int | None, tuple[Write, ...]]]:
    """The slices that a read as of `time` visits, newest first: all of them.

    By completion times each log that stands at `time` precedes every later barrier anyway.
    """
    return reversed(writes_by_slice(rules, table, group).items())


@lru_cache(maxsize=1 << 12)
def base_file(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """The content of the base file with this barrier by these rules; None if there is none."""
    return rules.base_file(rules, table, group, barrier)


def compacted(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
    """What the plan with this barrier merges: the base file that it takes, and its logs in order."""
    plan = next((plan for plan in table.plans if plan.requested == barrier), None)
    part = plan.of(group) if plan is not None else None
    if plan is None or part is None:
        return None
    by = rules.rules_of_plan(rules, table, plan, group)
    listed = rules.instants_with_logs(table, group)
    known = logs_by_time(by, table, group, (log for log in part.logs if log[0] in listed))
    # A plan that took a log of a write that is still pending names a log that no completed instant lists.
    unlisted = sorted(log for log in part.logs if log not in known)
    return slice_fold(rules, table, group, part.base, (*known, *unlisted), by)


def slice_fold(
    rules: Rules, table: Table, group: int, barrier: int | None, logs: tuple[Log, ...], by: Rules | None = None
) -> Fold:
    """The base file with this barrier, if there is one, and the logs that merge with it.

    `by`: the rules of the engine that merges, where they are not those of the table.
    """
    by = by or rules
    base, layers = base_file(rules, table, group, barrier), rules.layers(table, group, logs)
    return Fold(base, layers, by.logs_before_tombstones(by, table, group, barrier, base, logs))


def read_optimized(rules: Rules, table: Table, group: int, time: float) -> Fold:
    """The newest base file of the group as of `time`: its rows alone."""
    shape = as_of(rules, table, group, time)
    return Fold(shape.base, ()) if shape.base is not None else NOTHING


def in_window(table: Table, after: int, until: float) -> tuple[Write, ...]:
    """The writes that completed in (after, until]."""
    return tuple([w for w in table.writes if w.completed is not None and after < w.completed <= until])


def incremental(rules: Rules, table: Table, group: int, after: int, until: float) -> Fold:
    """The read of the window (after, until] in one file group, by these rules."""
    return rules.incremental(rules, table, group, after, until)


def window(rules: Rules, table: Table, group: int, after: int, until: float) -> Fold:
    """The logs of the writes that completed in the window, merged among themselves."""
    logs = rules.window_logs(rules, table, group, after, until)
    return Fold(None, rules.layers(table, group, logs))


def window_logs(rules: Rules, table: Table, group: int, after: int, until: float) -> tuple[Log, ...]:
    """The logs that a window merges, in order."""
    return logs_in_order(rules, rules.window_writes(rules, table, group, after, until), group)


def window_writes(rules: Rules, table: Table, group: int, after: int, until: float) -> tuple[Write, ...]:
    """The writes whose logs a window merges in a file group."""
    return rules.in_window(table, after, until)


def changes(rules: Rules, table: Table, group: int, after: int, until: float) -> tuple[Fold, Fold]:
    """The two states whose difference is the change log of (after, until]."""
    return as_of(rules, table, group, after), as_of(rules, table, group, until)


