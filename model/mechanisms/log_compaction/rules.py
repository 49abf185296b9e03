"""Defines how a table with log compactions is read: one log file replaces several logs of a file slice (RFC-66,
`handle_log_compaction`).

A completed log compaction replaces its input logs. A read as of a time at or after the completion of a log compaction
uses the compacted log instead of the inputs. The compacted log belongs to the file slice of its newest input and takes
that input's place in the merge order, as in hudi-rs. The inputs are contiguous in completion order, so the compacted
log does not change which record wins. A read as of a time before the log compaction completed uses the input logs.
Incremental reads use the input logs too, because only those record the write and the time of each row.

A log is a pair (requested time, version). The requested time of a compacted log is that of its plan; a log compaction
writes one log for each file group, with version 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from math import inf
from typing import Any, Literal, NamedTuple

from ...kernel.merge import Fold
from ...kernel.slicing import logs_by_time, writes_by_slice
from ...kernel.table import Compaction, GroupPlan, Log, Plan, Table, Write
from ...machine.marks import mark, with_mark
from ...machine.options import Limits, Options, limit, option
from ...rules import Rules
from ..foreign_services import foreign_rules, merges_by_foreign_rules


class LogCompactions(Options):
    """The options that select how readers use a log file written by a log compaction."""

    log_compaction_rank: Literal["inputs", "own"] = option(
        "inputs",
        "the rank of the log of a log compaction. inputs: that of its newest input; own: by its own completion time",
    )
    log_compaction_window: Literal["excluded", "included"] = option(
        "excluded",
        "what an incremental window does with the log of a log compaction. excluded: it delivers the inputs instead; "
        "included: it delivers the log like that of a write",
    )


class LogCompactionLimits(Limits):
    """The limit on the number of log compactions."""

    log_compactions: int = limit(0, "how many log compactions may be planned",
                                 in_random_worlds=(1, 2), needs="log_compactor")  # fmt: skip


class LogCompaction(NamedTuple):
    """The completed instant of a log compaction; `requested` is the requested time of its plan."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        # As in Hudi, the action of the pending instant is `logcompaction`; it completes as a deltacommit.
        return "deltacommit"


ADDS_FILES = (Write, Compaction, LogCompaction)
"""The types of the completed instants that add data files."""


class LogPlans(NamedTuple):
    """A mark (a record that a mechanism attaches, machine/marks.py) of a table: its log compaction plans, each with its
    completion time (None while pending).
    """

    plans: tuple[tuple[Plan, int | None], ...] = ()
    kind: str = "log plans"


def with_log_plans(table: Table, published: Iterable[Any], plans: tuple[Plan, ...]) -> Table:
    if not plans:
        return table
    completed = {entry.requested: entry.completed for entry in published if isinstance(entry, LogCompaction)}
    log_plans = LogPlans(tuple((plan, completed.get(plan.requested)) for plan in plans))
    return table._replace(marks=with_mark(table.marks, log_plans))


def log_plans_of(table: Table) -> tuple[tuple[Plan, int | None], ...]:
    """Return the table's log compaction plans, each with its completion time (None while the plan is pending)."""
    return mark(table, LogPlans).plans if table.marks else ()


class WithLogCompactions(Rules):
    """The rules for reading tables with log compactions."""

    compares_requested_times = False

    def merged_logs(self, table: Table, group: int, writes: tuple[Write, ...], time: float) -> tuple[Log, ...]:
        logs = super().merged_logs(table, group, writes, time)
        # The plans of log compactions are marks: most tables of a search have none, and their reads stay fast.
        return replace_inputs(self, table, group, logs, time) if table.marks else logs

    def log_time(self, table: Table, group: int, log: Log) -> float:
        requested, _ = log
        if not table.marks or requested not in (inputs := inputs_by_compaction(table, group)):
            return super().log_time(table, group, log)
        if self[LogCompactions].log_compaction_rank == "inputs":
            return max(self.log_time(table, group, each) for each in inputs[requested])
        own = super().log_time(table, group, log)
        # Other rules find the time of a log by its write, and a compacted log has none: they return infinity. Only
        # under `merge_order = requested` do they return a time, the requested time in the log's name.
        if own < inf:
            return own
        return next(completed for plan, completed in log_plans_of(table) if plan.requested == requested) or inf

    def fold_of(
        self, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
    ) -> Fold:
        fold = super().fold_of(table, group, barrier, base, logs)
        return fold._replace(logs=folded_inputs(table, group, logs)) if table.marks else fold

    def instants_with_logs(self, table: Table, group: int) -> set[int]:
        return super().instants_with_logs(table, group) | inputs_by_compaction(table, group).keys()

    def may_plan(self, table: Table, group: int) -> bool:
        return super().may_plan(table, group) and group not in groups_of_pending_log_plans(table)

    def table_as_of(self, table: Table, time: float) -> Table:
        shown = LogPlans(tuple(
            (plan, completed if _is_visible(self, plan, completed, time) else None)
            for plan, completed in log_plans_of(table)
        ))  # fmt: skip
        then = super().table_as_of(table, time)
        return then._replace(marks=with_mark(then.marks, shown))

    def window_logs(self, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
        logs = super().window_logs(table, group, after, until)
        return with_compacted(self, table, group, logs, compacted_in(self, table, group, after, until))


def _is_visible(rules: Rules, plan: Plan, completed: int | None, time: float) -> bool:
    return completed is not None and rules.is_visible(plan.requested, completed, time)


def inputs_by_compaction(table: Table, group: int) -> dict[int, tuple[Log, ...]]:
    """Map the requested time of each log compaction of a file group to its input logs."""
    parts = [(plan.requested, plan.part_in(group)) for plan, _ in log_plans_of(table)]
    return {requested: part.logs for requested, part in parts if part is not None}


def replace_inputs(rules: Rules, table: Table, group: int, logs: tuple[Log, ...], time: float) -> tuple[Log, ...]:
    """Return the logs that a read as of `time` merges: compacted logs replace their inputs. In the merge order, a
    compacted log takes the place of its latest input.
    """
    visible = {plan.requested for plan, completed in log_plans_of(table) if _is_visible(rules, plan, completed, time)}
    if not visible:
        return logs
    merge_time = partial(rules.log_time, table, group)
    replaced: dict[Log, tuple[Log, Log]] = {}
    for requested, taken in inputs_by_compaction(table, group).items():
        if requested in visible:
            # A plan lists its inputs by completion time; a reader that merges by requested time has another last input.
            # All logs of a write have the same time, and `max` returns the first of equals: of the reversed inputs this
            # is the log with the greatest version.
            last = max(reversed(taken), key=merge_time)
            replaced |= dict.fromkeys(taken, (compacted_log(requested), last))
    kept = tuple([instead for log in logs if (instead := _place_taken_by(log, replaced)) is not None])
    return logs_by_time(rules, table, group, kept) if rules[LogCompactions].log_compaction_rank == "own" else kept


def compacted_log(requested: int) -> Log:
    """Return the log that a log compaction writes in a file group."""
    return requested, 1


def _place_taken_by(log: Log, replaced: Mapping[Log, tuple[Log, Log]]) -> Log | None:
    """Return the log that takes the place of `log`; None if another input holds the place of the compacted log.
    `replaced` maps each input to the compacted log and to the input whose place the compacted log takes.
    """
    while log in replaced:  # a compacted log may be the input of a later log compaction
        compacted, last = replaced[log]
        if log != last:
            return None
        log = compacted
    return log


def with_inputs(table: Table, group: int, logs: Iterable[Log]) -> tuple[Log, ...]:
    """Return `logs` together with the direct and indirect input logs of each log written by a log compaction, whether
    or not the log compaction has completed.
    """
    inputs = inputs_by_compaction(table, group)
    if not inputs:
        return tuple(logs)
    return tuple(each for log in logs for each in (log, *with_inputs(table, group, inputs.get(log[0], ()))))


def folded_inputs(table: Table, group: int, logs: Iterable[Log]) -> tuple[Log | Fold, ...]:
    """Return `logs` with each compacted log replaced by the fold (merge tree, kernel/merge.py) of its inputs."""
    inputs = inputs_by_compaction(table, group)
    if not inputs:
        return tuple(logs)
    return tuple(Fold(None, folded_inputs(table, group, inputs[log[0]])) if log[0] in inputs else log for log in logs)


def compacted_in(rules: Rules, table: Table, group: int, after: float, until: float) -> tuple[Log, ...]:
    """Return the compacted logs that an incremental query reads: by default none, because the query reads the input
    logs.

    Some readers treat a log written by a log compaction like the log of a write (Apache Hudi, issue 20327).
    """
    if not table.marks or rules[LogCompactions].log_compaction_window == "excluded":
        return ()
    return tuple(
        compacted_log(plan.requested)
        for plan, completed in log_plans_of(table)
        if completed is not None and after < completed <= until and plan.requested in inputs_by_compaction(table, group)
    )


def with_compacted(
    rules: Rules, table: Table, group: int, logs: tuple[Log, ...], compacted: tuple[Log, ...]
) -> tuple[Log, ...]:
    """Return the logs of writes and of log compactions together, in merge order."""
    return logs_by_time(rules, table, group, (*logs, *compacted)) if compacted else logs


def mergeable_logs(rules: Rules, table: Table, groups: int) -> tuple[GroupPlan, ...]:
    """Return the inputs of a log compaction planned now: for each included file group, the completed logs of its newest
    slice. The result is () if there is nothing to compact.

    A file group is included only if its newest slice has several completed logs, and no log compaction of the file
    group is pending. The inputs are all completed logs of the slice, and no write completes while the planner holds
    the lock. Any other write therefore completes after all inputs, so the inputs are contiguous in completion order.
    """
    parts = ((group, _logs_of_newest_slice(rules, table, group)) for group in range(groups))
    busy = groups_of_pending_log_plans(table)
    return tuple(GroupPlan(group, None, logs) for group, logs in parts if len(logs) > 1 and group not in busy)


def _logs_of_newest_slice(rules: Rules, table: Table, group: int) -> tuple[Log, ...]:
    barrier, newest = list(writes_by_slice(rules, table, group).items())[-1]
    # The logs of a slice whose base file a foreign engine wrote merge by that engine's rules. A compacted log would be
    # merged by the table's rules, so such a slice waits for a compaction by this engine.
    if merges_by_foreign_rules(rules, table, group, barrier) and foreign_rules(rules) is not rules:
        return ()
    completed = tuple(write for write in newest if write.completed is not None)
    return rules.merged_logs(table, group, completed, inf)


def groups_of_pending_log_plans(table: Table) -> set[int]:
    """Return the file groups in which a log compaction is pending."""
    return {part.group for plan, completed in log_plans_of(table) if completed is None for part in plan.groups}
