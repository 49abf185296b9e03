"""Defines how a table with log compactions is read: one log file replaces several logs of a file slice (RFC-66,
`handle_log_compaction`).

A completed log compaction *covers* its input logs. A read as of a time at or after the completion of a log compaction
uses the compacted log instead of the covered logs. The compacted log belongs to the file slice of its newest input and
takes that input's place in the merge order, as in hudi-rs. The inputs are contiguous in completion order, so the
compacted log does not change which record wins. A read as of a time before the log compaction completed uses the input
logs. Incremental reads use the input logs too, because only those record the write and the time of each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, NamedTuple

from ...kernel.merge import Fold
from ...kernel.slicing import logs_by_time, writes_by_slice
from ...kernel.table import Compaction, GroupPlan, Log, Plan, Table, Write
from ...machine.marks import mark, with_mark
from ...protocol import Protocol
from ...rules import Rules
from ..foreign_services import merges_by_theirs, theirs
from .options import LogCompactions


class LogCompaction(NamedTuple):
    """The completed instant of a log compaction; `requested` is the requested time of its plan."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "deltacommit"


WRITES = (Write, Compaction, LogCompaction)
"""The instants that add data files."""


class PlannedLogs(NamedTuple):
    """A record attached to a table: its plans of log compactions, each with its completion time (None while pending).
    """

    plans: tuple[tuple[Plan, int | None], ...] = ()
    kind: str = "planned logs"


def with_log_plans(table: Table, published: Iterable[Any], plans: tuple[Plan, ...]) -> Table:
    """Attach the plans of log compactions to a table."""
    if not plans:
        return table
    done = {entry.requested: entry.completed for entry in published if isinstance(entry, LogCompaction)}
    planned = PlannedLogs(tuple((plan, done.get(plan.requested)) for plan in plans))
    return table._replace(marks=with_mark(table.marks, planned))


def log_compactions(table: Table) -> tuple[tuple[Plan, int | None], ...]:
    """Return the table's log compaction plans, each with its completion time (None while the plan is pending)."""
    return mark(table, PlannedLogs).plans if table.marks else ()


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for reading tables with log compactions."""
    return _in_windows(_as_of_a_time(_in_plans(_in_place_of_inputs(rules))))


def _in_place_of_inputs(rules: Rules) -> Rules:
    inner_logs, inner_time, inner_fold = rules.merged_logs, rules.log_time, rules.fold_of
    inner_instants = rules.instants_with_logs

    def merged_logs(rules: Rules, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
        logs = inner_logs(rules, table, group, writes, time)
        return read_instead(rules, table, group, logs, time) if table.marks else logs

    def log_time(rules: Rules, table: Table, group: int, log: Log) -> float:
        taken = inputs(table, group) if table.marks else {}
        if log[0] not in taken:
            return inner_time(rules, table, group, log)
        if rules[LogCompactions].log_compaction_rank == "inputs":
            return max(rules.log_time(rules, table, group, each) for each in taken[log[0]])
        own = inner_time(rules, table, group, log)
        if own < inf:  # the order is that of requested times
            return own
        return next(done for plan, done in log_compactions(table) if plan.requested == log[0]) or inf

    def fold_of(
        rules: Rules, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
    ) -> Fold:
        shape = inner_fold(rules, table, group, barrier, base, logs)
        return shape._replace(logs=folded_inputs(table, group, logs)) if table.marks else shape

    def instants_with_logs(table: Table, group: int) -> set[int]:
        return inner_instants(table, group) | inputs(table, group).keys()

    return replace(
        rules, merged_logs=merged_logs, log_time=log_time, fold_of=fold_of, instants_with_logs=instants_with_logs
    )


def _in_plans(rules: Rules) -> Rules:
    inner = rules.may_plan

    def may_plan(table: Table, group: int) -> bool:
        return inner(table, group) and group not in being_compacted(table)

    return replace(rules, may_plan=may_plan)


def _as_of_a_time(rules: Rules) -> Rules:
    inner = rules.table_as_of

    def table_as_of(rules: Rules, table: Table, time: float) -> Table:
        shown = tuple((plan, at if _is_visible(rules, plan, at, time) else None) for plan, at in log_compactions(table))
        then = inner(rules, table, time)
        return then._replace(marks=with_mark(then.marks, PlannedLogs(shown)))

    return replace(rules, table_as_of=table_as_of)


def _in_windows(rules: Rules) -> Rules:
    inner = rules.window_logs

    def window_logs(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
        logs, made = inner(rules, table, group, after, until), compacted_in(rules, table, group, after, until)
        return with_compacted(rules, table, group, logs, made)

    return replace(rules, window_logs=window_logs)


def _is_visible(rules: Rules, plan: Plan, completed: int | None, time: float) -> bool:
    return completed is not None and rules.is_visible(plan.requested, completed, time)


def inputs(table: Table, group: int) -> dict[int, tuple[Log, ...]]:
    """Map the requested time of each log compaction of a file group to its input logs."""
    parts = [(plan.requested, plan.part_in(group)) for plan, _ in log_compactions(table)]
    return {requested: part.logs for requested, part in parts if part is not None}


def read_instead(rules: Rules, table: Table, group: int, logs: tuple[Log, ...], time: float) -> tuple[Log, ...]:
    """Return the logs that a read as of `time` merges: compacted logs replace their inputs. In the merge order, a
    compacted log takes the place of its latest input.
    """
    done = {plan.requested for plan, completed in log_compactions(table) if _is_visible(rules, plan, completed, time)}
    if not done:
        return logs
    merge_time = partial(rules.log_time, rules, table, group)
    # A plan lists its inputs by completion time; a reader that merges by requested time has another last input.
    last = {at: max(reversed(taken), key=merge_time) for at, taken in inputs(table, group).items() if at in done}
    by = {log: (at, last[at]) for at, taken in inputs(table, group).items() if at in done for log in taken}
    kept = tuple([instead for log in logs if (instead := _instead(log, by)) is not None])
    return logs_by_time(rules, table, group, kept) if rules[LogCompactions].log_compaction_rank == "own" else kept


def _instead(log: Log, by: Mapping[Log, tuple[int, Log]]) -> Log | None:
    while log in by:
        requested, last = by[log]
        if log != last:
            return None
        log = (requested, 1)
    return log


def covered(table: Table, group: int, logs: Iterable[Log]) -> tuple[Log, ...]:
    """Return `logs` together with the direct and indirect input logs of each log written by a log compaction."""
    taken = inputs(table, group)
    if not taken:
        return tuple(logs)
    return tuple(each for log in logs for each in (log, *covered(table, group, taken.get(log[0], ()))))


def folded_inputs(table: Table, group: int, logs: Iterable[Log]) -> tuple[Log | Fold, ...]:
    """Return `logs` with each compacted log replaced by the merge tree of its inputs."""
    taken = inputs(table, group)
    if not taken:
        return tuple(logs)
    return tuple(Fold(None, folded_inputs(table, group, taken[log[0]])) if log[0] in taken else log for log in logs)


def compacted_in(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
    """Return the compacted logs that an incremental query reads. By default, an incremental query reads no compacted
    log, because a log compaction changes no row.

    Some readers treat a log written by a log compaction like the log of a write (Apache Hudi, issue 20327).
    """
    if rules[LogCompactions].log_compaction_window == "excluded" or not table.marks:
        return ()
    done = (plan.requested for plan, at in log_compactions(table) if at is not None and after < at <= until)
    return tuple((at, 1) for at in done if at in inputs(table, group))


def with_compacted(
    rules: Rules, table: Table, group: int, logs: tuple[Log, ...], made: tuple[Log, ...]
) -> tuple[Log, ...]:
    """Return the logs of writes and of log compactions together, in merge order."""
    return logs_by_time(rules, table, group, (*logs, *made)) if made else logs


def log_plan(rules: Rules, table: Table, groups: int) -> tuple[GroupPlan, ...]:
    """Return the inputs of a log compaction planned now: for each included file group, the completed logs of its newest
    slice. The result is () if there is nothing to compact.

    A file group is included only if its newest slice has several completed logs, and no log compaction of the file
    group is pending. File groups to which the merge rules of a foreign engine apply are not included. Any other write
    completes after all inputs, so the inputs remain contiguous in completion order.
    """
    parts = ((group, _logs_of_newest_slice(rules, table, group)) for group in range(groups))
    busy = being_compacted(table)
    return tuple(GroupPlan(group, None, logs) for group, logs in parts if len(logs) > 1 and group not in busy)


def _logs_of_newest_slice(rules: Rules, table: Table, group: int) -> tuple[Log, ...]:
    barrier, newest = list(writes_by_slice(rules, table, group).items())[-1]
    if merges_by_theirs(rules, table, group, barrier) and theirs(rules) is not rules:
        return ()
    completed = tuple(write for write in newest if write.completed is not None)
    return rules.merged_logs(rules, table, group, completed, inf)


def being_compacted(table: Table) -> set[int]:
    """Return the file groups in which a log compaction is pending."""
    return {part.group for plan, done in log_compactions(table) if done is None for part in plan.groups}
