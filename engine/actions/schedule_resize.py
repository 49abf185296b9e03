"""Plans a resize: another number of file groups in each partition, while writers continue.

The plan's requested time K is a barrier: the new file groups get base files of what completed before K. The plan is
made under the table's lock, and the first plan records in the properties of the table what its readers and writers
must support. While a resize is pending, no compaction and no replacing write is planned.
"""

from __future__ import annotations

from ..config import TableConfig
from ..config.properties import encode_properties
from ..config.table_config import FOUND_FILE_IDS
from ..config.table_properties import MOST_BUCKETS, resized_properties
from ..context import Context
from ..definition.load import PROPERTIES, load_properties
from ..errors import BadInput, Conflict, Unsupported
from ..files.slices import pending_plans
from ..names import Generation
from ..services.retirement import retire_unneeded
from ..timeline import Instant, own_extra, put_requested
from ..timeline.history import Active
from ..timeline.resize_plans import CLUSTERING, ResizePlan, encode_resize_plan
from ..writes.claims import new_time
from ..writes.decision_log import in_order
from ..writes.mapping import current_generation, pending_resize

MOST_RESIZES = 9999
"""A file id has four digits for the generation."""


def run(context: Context, config: TableConfig, buckets: int) -> Instant | None:
    """Plan a resize to `buckets` file groups in each partition. Returns the pending resize if there is one to this
    number; None if the table has this number of file groups.
    """
    refuse_unsupported(config, buckets)
    config.check_function()
    with in_order(context):
        active = context.without_late_states(context.active())
        if pending := pending_resize(context, active):
            instant, plan = pending
            if plan.generation.buckets == buckets:
                return instant
            raise Conflict(
                _asked(buckets),
                f"the resize {instant.requested} to {plan.generation.buckets} buckets is pending",
                "complete it (resize without a number), or cancel it (cancel_resize), and try again",
            )
        now = current_generation(context, config, active)
        if now.buckets == buckets:
            return None
        _refuse_replacing(context, active, buckets)
        if now.number >= MOST_RESIZES:
            raise Unsupported(_asked(buckets), f"it was resized {MOST_RESIZES} times", "copy it (Table.copy)")
        timeline = context.history(active).current
        planned = pending_plans(timeline, context.commits, context.rules)
        # A group with only a pending plan has no slice yet, and is replaced all the same.
        groups = sorted({*planned, *(piece.group for piece in retire_unneeded(context, timeline, context.rules))})
        requested = new_time(context, active)
        # Before the plan: a process of an older release must refuse the table before the first file group is replaced.
        demand_feature(context)
        plan = ResizePlan(Generation(now.number + 1, buckets), tuple(groups), own_extra(config.avro_schema))
        return put_requested(context.storage, requested, CLUSTERING, encode_resize_plan(plan))


def _asked(buckets: object) -> str:
    return f"resize the table to {buckets} buckets"


def refuse_unsupported(config: TableConfig, buckets: int) -> None:
    """Raise `BadInput` or `Unsupported` for a number of buckets, or a table, that a resize does not support."""
    config.check_writable()
    if not isinstance(buckets, int) or isinstance(buckets, bool) or not 0 < buckets < MOST_BUCKETS:
        remedy = f"give a whole number from 1 to {MOST_BUCKETS - 1}"
        raise BadInput(_asked(repr(buckets)), "a partition has at least one bucket", remedy)
    refuse_table(config, _asked(buckets))


def refuse_table(config: TableConfig, asked: str) -> None:
    """Raise `Unsupported` for a table that no resize supports. `asked` is what was asked for."""
    decision = config.coordination.decision
    if not config.merge_on_read:
        exists, remedy = "it is COPY_ON_WRITE, where a write replaces base files", "copy it (Table.copy)"
    elif decision != "lock":
        exists = f"its nbcc.decision is {decision}, and only writers under the lock look for other file groups"
        remedy = "convert it to nbcc.decision=lock (Table.convert), and resize it then"
    elif FOUND_FILE_IDS in config.writer_features:
        exists, remedy = "Hudi named its file groups, so their ids do not state their keys", "copy it (Table.copy)"
    else:
        return
    raise Unsupported(asked, exists, remedy)


def _refuse_replacing(context: Context, active: Active, buckets: int) -> None:
    for pending in active.pending_compactions:
        if context.commits.plan(pending.requested).replaces:
            raise Conflict(
                _asked(buckets),
                f"the replacing write {pending.requested} is pending, which hides rows that a resize would copy",
                "wait for its writer, or roll it back if it has failed (rollback), and try again",
            )


def demand_feature(context: Context) -> None:
    """Record in the properties of the table what its readers and writers must support. The caller holds the lock."""
    values = load_properties(context.storage)
    if (resized := resized_properties(values)) != values:
        context.storage.put(PROPERTIES, encode_properties(resized))
