"""Implements replacing writes (insert overwrite, delete partition). A replacing write hides the rows of its partitions
that were committed before it was requested.

Under non-blocking concurrency control, a replacing write is planned as a compaction without input files. The plan of a
replacing write contains every file group of the replaced partitions. Each replaced file group gets a base file,
possibly empty, with its new rows (docs/contract.md, SNAP). As soon as the plan is on the timeline, the write's
requested time separates the old and the new slice of each file group. A log that completes after the replacing write's
requested time belongs to the new slice, and is merged with the new rows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import CompactTask, ReadTask, WriteTask, WrittenFile
from ..errors import BadInput, Conflict, Unsupported
from ..file_names import partition_metadata
from ..files.group_files import Group
from ..files.slices import pending_plans
from ..names import Generation, bucket_file_id
from ..timeline import (
    REPLACES,
    CompactionOperation,
    CompactionPlan,
    Instant,
    encode_plan,
    own_extra,
    put_inflight,
)
from ..timeline.decisions import AUTHOR
from ..timeline.history import Active
from ..writes.announced import complete_announced
from ..writes.commit_protocol import complete, stop_heartbeat_on_error, undo_on_error
from ..writes.commits import replace_commit
from ..writes.conflicts import NO_READS, conflict_of, footprint_of
from ..writes.decided_plans import history_of, own_decision, plan_time, put_plan
from ..writes.decision_log import decides_without_lock, in_order
from ..writes.file_ids import BucketIds, file_ids_by_bucket
from ..writes.mapping import current_generation, pending_resize, to_generation
from ..writes.unknown_index import unknown_index

ACTION = "compaction"


def replace_partitions(
    context: Context, config: TableConfig, partitions: Collection[str], data: Any, operation: str
) -> Instant:
    """Replace all rows of the named partitions with the rows of `data`; if `data` is None, delete all rows of these
    partitions.

    Raises `Conflict` and publishes nothing if a compaction plan is pending in one of the partitions. With a decision
    log, `Conflict` is also raised if another writer or service creates the next log entry first. An optimistic writer
    also raises `Conflict` if another write to the partitions has completed since the writer began.
    """
    _refuse_where_unsupported(context, config, operation)
    file_ids = file_ids_by_bucket(context, config)
    requested, at_request, generation = _schedule(context, config, partitions, operation, file_ids)
    groups = _groups(context, partitions, generation, file_ids)
    with undo_on_error(context, requested, ACTION):
        put_inflight(context.storage, requested, ACTION)
        files = _written(context, config, requested, groups, data, file_ids, generation)

    commit = replace_commit(config, requested, operation, files)
    if decides_without_lock(context):
        footprint = footprint_of(context, config, files, at_request, NO_READS)
        return complete_announced(context, requested, ACTION, files=files, commit=commit, footprint=footprint)

    def refused_by(known: Active | None) -> Conflict | None:
        now = known or context.active()
        refusal = _already_taken(requested, operation, now)
        if data is not None:  # a write without rows inserts no key
            refusal = refusal or unknown_index(context, config, requested, now)
        return refusal or conflict_of(context, config, requested, files, at_request=at_request, now=now)

    return complete(
        context,
        requested,
        ACTION,
        files=files,
        commit=commit,
        refused_by=refused_by,
        may_check_early=True,
    )


def _already_taken(requested: str, operation: str, now: Active) -> Conflict | None:
    """Return a `Conflict` if another engine has mistaken the plan for a compaction and completed it; otherwise None."""
    found = now.find(requested, ACTION)
    if found is None or found.completed is None:
        return None
    return Conflict(
        operation.lower().replace("_", " "),
        f"another engine has taken its plan {requested} for a compaction and completed it",
        "run the services of this table with nbcc, and try again",
    )


def _refuse_where_unsupported(context: Context, config: TableConfig, operation: str) -> None:
    asked = operation.lower().replace("_", " ")
    if not config.merge_on_read:
        raise Unsupported(asked, "the table is COPY_ON_WRITE", "delete its rows and write the new ones")


def _groups(
    context: Context, partitions: Collection[str], generation: Generation, file_ids: BucketIds
) -> tuple[Group, ...]:
    def own_id(bucket: int) -> str:
        return bucket_file_id(bucket, generation) if generation.number else context.names.file_id(bucket)

    return tuple(
        (partition, file_ids.get((partition, bucket)) or own_id(bucket))
        for partition in sorted(partitions)
        for bucket in range(generation.buckets)
    )


def _schedule(
    context: Context, config: TableConfig, partitions: Collection[str], operation: str, file_ids: BucketIds
) -> tuple[str, Active, Generation]:
    """Choose the requested time of a replacing write and put its plan, both while holding the table's lock. Returns
    the plan's requested time, the timeline listed under the lock and the generation of the table's file groups. No
    resize is planned while the write is pending. Without the lock, the time is one that an entry of this writer
    reserves, and the timeline has what completed before it.
    """
    with in_order(context):
        last = own_decision(context)
        timeline = history_of(context, last).active
        generation = current_generation(context, config, timeline)
        groups = _groups(context, partitions, generation, file_ids)
        if resize := pending_resize(context, timeline):
            raise Conflict(
                operation.lower().replace("_", " "),
                f"the resize {resize[0].requested} is pending, which copies the rows that it would hide",
                "complete it (resize) or cancel it (cancel_resize), and try again",
            )
        planned = pending_plans(timeline, context.commits, context.rules)
        if taken := next((group for group in groups if group in planned), None):
            raise Conflict(
                operation.lower().replace("_", " "),
                f"the plan {planned[taken][0]} is pending in {'/'.join(filter(None, taken))}, "
                "and no reader of Hudi's takes two of a file group",
                "complete it (run_compaction), or roll it back if its writer has failed (rollback), and try again",
            )
        requested = plan_time(context, last, AUTHOR, timeline)
        operations = tuple(CompactionOperation(*group, requested, None, ()) for group in groups)
        plan = encode_plan(CompactionPlan(operations, own_extra(config.avro_schema, {REPLACES: operation})))
        with stop_heartbeat_on_error(context, requested):
            # Before the plan is visible: a pending replacing write without a heartbeat counts as failed.
            context.heartbeats.start(requested)
            there = put_plan(context, last, requested, ACTION, plan)
        if there is None:
            context.heartbeats.stop(requested)
            if decides_without_lock(context):  # another plan was decided first
                return _schedule(context, config, partitions, operation, file_ids)
            raise Conflict(
                operation.lower().replace("_", " "),
                "its lock was lost, and something was decided meanwhile that it has not seen",
                "run it again",
            )
    return requested, timeline, generation


def _written(
    context: Context, config: TableConfig, requested: str, groups: Collection[Group], data: Any, file_ids: BucketIds,
    generation: Generation,
) -> list[WrittenFile]:  # fmt: skip
    """Write one base file in every file group of the replaced partitions, and return the files. If a replaced file
    group got no new base file, readers would still return its old rows.
    """
    shape = table_shape(config, context.rules)
    task = to_generation(WriteTask(shape, requested, bulk=True, file_ids=file_ids), generation)
    files = [] if data is None else context.jobs.write(data, task)
    filled = {(file.partition, file.file_id) for file in files}
    if elsewhere := sorted(partition for partition, _ in filled - set(groups)):
        raise BadInput(
            "replace partitions",
            f"there are rows of {elsewhere[0]!r}, which is not among them",
            "name it, or leave them out",
        )
    left = [group for group in groups if group not in filled]
    for partition in {partition for partition, _ in left if shape.keys.partition_by}:
        context.storage.put_if_absent(*partition_metadata(partition, requested))
    nothing = (ReadTask(shape, *group) for group in left)
    return [*files, *context.jobs.compact([CompactTask(task, requested) for task in nothing])]
