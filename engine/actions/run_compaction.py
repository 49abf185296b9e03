"""Carry out a compaction plan: new base files, and the deletes that a late older update must still lose against."""

from __future__ import annotations

from ..commits import compaction_commit
from ..config import TableConfig
from ..context import Context
from ..data.merge import EVENT_TIME
from ..data.tasks import CompactTask, LogInput, ReadTask, TableShape
from ..errors import BadInput
from ..files.names import in_partition, parse_base, parse_log
from ..reads.tasks import group_rules
from ..reads.times import Time
from ..rules import Rules
from ..shape import table_shape
from ..timeline import CompactionOperation, Instant, Timeline, load, put_inflight
from ..writing import complete, load_with, named

ACTION = "compaction"


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Merge what a plan lists, and publish the result under the plan's instant. Anybody may take up a pending plan.

    `instant`: the plan's, as an Instant or its requested time; by default the oldest pending one. Returns the completed
    instant; that of another runner if it was faster; None if no plan is pending.
    """
    config.check_writable()
    timeline = load(context.storage) if instant is None else load_with(context, named(instant), ACTION)
    requested = _chosen(context, timeline, instant)
    if requested is None:
        return None
    if done := _completed(timeline, requested):
        return done
    plan = context.commits.plan(requested)
    put_inflight(context.storage, requested, ACTION, again=True)
    files = context.jobs.compact(
        [_task(context, config, timeline, operation, requested) for operation in plan.operations]
    )
    return complete(
        context,
        requested,
        ACTION,
        files=files,
        commit=compaction_commit(config, requested, plan, files),
        completed_by_another=lambda: _completed(load_with(context, requested, ACTION), requested),
        beats=False,
    )


def _chosen(context: Context, timeline: Timeline, instant: Time | None) -> str | None:
    plans = [plan.requested for plan in timeline.pending_compactions]
    plans = [requested for requested in plans if not context.commits.plan(requested).replaces]
    if instant is None:
        return next(iter(plans), None)
    requested = named(instant)
    found = timeline.find(requested, ACTION)
    if found is None or not timeline.is_compaction(found) or context.commits.plan(requested).replaces:
        pending = ", ".join(plans)
        raise BadInput(
            f"run the compaction {requested}",
            "the timeline has no plan with that requested time",
            f"name one that is pending ({pending})" if pending else "schedule one first; none is pending",
        )
    return requested


def _completed(timeline: Timeline, requested: str) -> Instant | None:
    found = timeline.find(requested, ACTION)
    return found if found is not None and found.completed else None


def _task(
    context: Context, config: TableConfig, timeline: Timeline, operation: CompactionOperation, requested: str
) -> CompactTask:
    """What the plan lists of one group, in its order; logs of the base's own instant hold the base's tombstones."""
    made = _made_at(operation)
    rules = group_rules(context, timeline, made)
    kept: list[LogInput] = []
    logs: list[LogInput] = []
    for name in operation.logs:
        log = parse_log(name)
        assert log is not None, f"the plan {requested} names {name!r} as a log"
        here = LogInput(in_partition(operation.partition, name), log.instant)
        (kept if log.instant == made and rules.fold == "rank" else logs).append(here)
    base = in_partition(operation.partition, operation.base_file) if operation.base_file else None
    shape = table_shape(config, rules)
    task = ReadTask(shape, operation.partition, operation.file_id, base, tuple(kept), tuple(logs))
    return CompactTask(task, requested, keeps_tombstones(shape, rules))


def _made_at(operation: CompactionOperation) -> str | None:
    """The requested time of the base file that a plan takes."""
    named = parse_base(operation.base_file) if operation.base_file else None
    return named.instant if named else None


def keeps_tombstones(shape: TableShape, rules: Rules) -> bool:
    """Commit time needs none: whatever completes later wins over what was deleted before."""
    return rules.tombstones == "keep" and shape.merge.mode == EVENT_TIME
