"""Runs a compaction plan: writes base files, and keeps deletes that must win over later updates.

Any process may run a pending plan. The operation returns the completed compaction, even if another process completed
the compaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..config import TableConfig
from ..context import Context
from ..data.shape import keeps_tombstones, table_shape
from ..data.tasks import CompactTask, ReadTask, WrittenFile
from ..definition.load import with_current_schema
from ..file_names import in_partition, is_tombstone_log, parse_base, split_path
from ..files.slices import all_slices, merge_position
from ..reads.tasks import group_rules
from ..reads.times import Time
from ..services.inputs import PlanInputs
from ..services.resume import completed, files_or_completed, resumed
from ..timeline import CompactionOperation, Instant, Timeline, put_inflight
from ..timeline.history import Active
from ..writes.commits import compaction_commit

ACTION = "compaction"


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Run a pending compaction plan, by default the oldest. Returns None if no plan is pending."""
    config.check_writable()
    # Another process may have added columns since this one opened the table, and the base files must have them.
    config = with_current_schema(context.storage, config)
    read = context.commits.plan

    def is_ours(timeline: Timeline, plan: Instant) -> bool:
        """A replacing write completes its own plan."""
        return timeline.is_compaction(plan) and not read(plan.requested).replaces

    active, found, plan = resumed(context, ACTION, instant, read, is_ours)
    if found is None or plan is None:
        return found
    requested = found.requested
    # `again`: any process may run the plan, so the state may be there already.
    put_inflight(context.storage, requested, ACTION, again=True)

    def compact() -> list[WrittenFile]:
        inputs = PlanInputs(context, active, requested)
        operations = plan.operations if plan.own else _in_our_order(inputs, plan.operations)
        tasks = [_task(context, config, inputs, operation, requested) for operation in operations]
        return context.jobs.compact([replace(task, sort_by=plan.sort_by) for task in tasks])

    files = files_or_completed(context, ACTION, requested, compact)
    if isinstance(files, Instant):
        return files
    return completed(context, ACTION, requested, compaction_commit(config, requested, plan, files), files)


def _in_our_order(inputs: PlanInputs, operations: Iterable[CompactionOperation]) -> Iterator[CompactionOperation]:
    """Return the operations of another engine's compaction plan, with the logs sorted in nbcc's merge order. Other
    engines list logs by requested time, but the merge rules of the file group may require a different order.
    """
    context = inputs.context
    slices = all_slices(context.storage, context.history(inputs.active).whole, context.commits, context.rules)
    logs = {log.path: log for piece in slices for each in (*piece.tombstones, *piece.logs) for log in each.files}
    for operation in operations:
        rules = group_rules(context, inputs.find, _made_at(operation))
        there = [logs[path] for name in operation.logs if (path := in_partition(operation.partition, name)) in logs]
        ordered = sorted(there, key=lambda log: merge_position(log, rules))
        every = len(there) == len(operation.logs)  # else it takes a file that no completed instant lists
        yield replace(operation, logs=tuple(split_path(log.path)[1] for log in ordered)) if every else operation


def _task(
    context: Context, config: TableConfig, inputs: PlanInputs, operation: CompactionOperation, requested: str
) -> CompactTask:
    """Return the task that compacts one file group of the plan."""
    barrier = _made_at(operation)
    rules = group_rules(context, inputs.find, barrier)
    base, logs = inputs.base(operation), inputs.logs(operation)
    listed = _listed_with_base(context, inputs.active, operation, barrier)
    by_time = rules.tombstone_logs == "by_time"
    own = [log for log in logs if log.requested == barrier and (by_time or log.path in listed)]
    own = [log for log in own if is_tombstone_log(split_path(log.path)[1])]
    tombstones = tuple(own) if rules.fold == "rank" else ()
    path, size = (base.path, base.size) if base else (None, None)
    others = tuple(log for log in logs if log not in tombstones)
    shape = table_shape(config, rules)
    task = ReadTask(shape, operation.partition, operation.file_id, path, tombstones, others, base_size=size)
    return CompactTask(task, requested, keeps_tombstones(shape, rules))


def _listed_with_base(
    context: Context, active: Active, operation: CompactionOperation, barrier: str | None
) -> frozenset[str]:
    """Return the paths listed in the commit that wrote the base file of a compaction operation."""
    if barrier is None or operation.base_file is None or not any(f"_{barrier}.log." in name for name in operation.logs):
        return frozenset()
    base = in_partition(operation.partition, operation.base_file)
    lookups = (active.at, lambda time: context.history(active).at(time))  # the archive is read only if needed
    for at in lookups:
        for instant in at(barrier):
            if instant.completed and instant.action in ("commit", "deltacommit"):
                listed = frozenset(stat.path for stat in context.commits.commit(instant).stats)
                if base in listed:
                    return listed
    return frozenset()


def _made_at(operation: CompactionOperation) -> str | None:
    named = parse_base(operation.base_file) if operation.base_file else None
    return named.instant if named else None
