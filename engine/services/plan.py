"""Selects the inputs of compactions and log compactions (RFC-66, "Non-serial compaction plan schedule")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..config import TableConfig
from ..context import Context
from ..file_names import split_path
from ..files.group_files import LogFile
from ..files.log_compaction import pending_groups
from ..files.slices import FileSlice, load_slices, pending_plans, to_read
from ..reads.tasks import group_rules, in_merge_order
from ..rules import Rules
from ..timeline import CompactionOperation, CompactionPlan, own_extra
from ..timeline.history import Current
from ..writes.mapping import pending_resize

SlicesOf = Callable[[Context, Current, Rules], tuple[FileSlice, ...]]
"""`current_slices`, or `retirement.retire_unneeded` for an operation that publishes a plan."""


def current_slices(context: Context, timeline: Current, rules: Rules) -> tuple[FileSlice, ...]:
    """Return the slices that reads since the newest clean use. `rules` are the planner's."""
    return load_slices(context.storage, timeline, context.commits, rules)


def worth_compacting(
    context: Context, timeline: Current, slices_of: SlicesOf = current_slices
) -> tuple[FileSlice, ...]:
    """Return the slices that a compaction can merge: those with logs, in file groups without a pending plan. There are
    none while a resize is pending, which replaces all file groups.

    Under `Rules(scheduling="serial")`, the result is empty while a write is pending.
    """
    rules = planner_rules(context.rules)
    if rules.scheduling == "serial" and any(instant.action == "deltacommit" for instant in timeline.pending):
        return ()
    if pending_resize(context, timeline):
        return ()
    slices = slices_of(context, timeline, rules)
    planned = pending_plans(timeline, context.commits, rules)
    busy = {*planned, *pending_groups(timeline, context.commits)}
    return tuple(piece for piece in to_read(slices, rules) if piece.logs and piece.group not in busy)


def worth_log_compacting(
    context: Context, timeline: Current, slices_of: SlicesOf = current_slices
) -> tuple[FileSlice, ...]:
    """Return the slices that a log compaction can compact: the newest slice of each file group, if it contains several
    completed logs.

    File groups are omitted if they have a pending log compaction, or if Hudi's merge rules apply to them. All are while
    a resize is pending.
    """
    if pending_resize(context, timeline):
        return ()
    # Slices come in the order of their barriers, so the last one of each group wins.
    newest = {s.group: s for s in slices_of(context, timeline, context.rules)}
    busy = pending_groups(timeline, context.commits)
    completed = (replace(s, logs=tuple(log for log in s.logs if log.completed)) for s in newest.values())
    return tuple(
        piece
        for piece in completed
        if len(piece.logs) > 1
        and piece.group not in busy
        and group_rules(context, timeline.find, piece.base.requested if piece.base else None) == context.rules
    )


def make_log_plan(config: TableConfig, slices: Iterable[FileSlice]) -> CompactionPlan:
    """Build a log compaction plan for the given slices, in Hudi's format."""
    operations = (
        CompactionOperation(
            partition=piece.partition,
            file_id=piece.file_id,
            base_instant=piece.barrier or piece.logs[0].requested,
            base_file=split_path(piece.base.path)[1] if piece.base else None,
            logs=tuple(split_path(log.path)[1] for log in piece.logs),
            log_bytes=sum(log.size for log in piece.logs),
        )
        for piece in slices
    )
    return CompactionPlan(tuple(operations), own_extra(config.avro_schema))


def planner_rules(rules: Rules) -> Rules:
    """Return the rules by which a compaction planner selects files. If `plan_takes` is "any_log", the planner also
    selects logs of pending writes.
    """
    return replace(rules, visibility="any") if rules.plan_takes == "any_log" else rules


def takes(log: LogFile, barrier: str, rules: Rules) -> bool:
    """Return whether a compaction plan merges the log, which must have completed before the plan's requested time,
    `barrier`. A log that completes at or after the plan's requested time belongs to the next file slice.
    """
    if rules.plan_takes == "any_log":
        return True
    return log.completed is not None and log.completed < barrier


def make_plan(
    context: Context, config: TableConfig, timeline: Current, slices: Iterable[FileSlice], barrier: str
) -> CompactionPlan:
    """Build the compaction plan with the requested time `barrier`; slices without logs to compact are omitted."""
    operations = []
    for piece in slices:
        taken = replace(piece, logs=tuple(log for log in piece.logs if takes(log, barrier, context.rules)))
        if taken.logs:
            rules = group_rules(context, timeline.find, piece.base.requested if piece.base else None)
            operations.append(_operation(taken, rules))
    return CompactionPlan(tuple(operations), own_extra(config.avro_schema))


def _operation(piece: FileSlice, rules: Rules) -> CompactionOperation:
    tombstones, others = in_merge_order(piece, rules)
    logs = (*tombstones, *others)
    return CompactionOperation(
        partition=piece.partition,
        file_id=piece.file_id,
        base_instant=piece.base.requested if piece.base else logs[0].requested,
        base_file=split_path(piece.base.path)[1] if piece.base else None,
        logs=tuple(split_path(log.path)[1] for log in logs),
        log_bytes=sum(log.size for log in logs),
        base_bytes=piece.base.size if piece.base else 0,
    )
