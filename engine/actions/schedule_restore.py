"""Plans a restore. Once the restore plan is published, readers ignore the instants listed in the plan."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..services.savepoints import to_use
from ..timeline import Instant
from ..timeline.restores import ACTION, encode_restore_plan, load_restore_plan
from ..writes.decided_plans import latest_decision, plan_time, put_plan
from ..writes.decision_log import decides_without_lock, in_order
from ..writes.restoring import plan_restore, refuse_lost, refuse_newer


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Publish a restore plan and return its instant; None if there is nothing to undo or if a restore is already
    pending.

    `instant` is the savepoint or its requested time (default: the newest savepoint). The restore plan is made under the
    lock; it lists all pending instants and the instants that completed after the savepoint's instant. Before
    publication, a writer checks under the table's lock whether a restore undoes the writer's instant (docs/contract.md,
    REC). Without the lock, the author of the entry that decides the restore makes the plan again. Raises `BadInput` if
    the savepoint does not exist, or if a newer savepoint exists.
    """
    config.check_writable()
    with in_order(context):
        last = latest_decision(context)
        timeline = context.active()
        if any(each.action == ACTION for each in timeline.pending):
            return None
        saved = to_use(timeline, instant, "restore the savepoint")
        refuse_newer(timeline, saved)
        if decides_without_lock(context):
            refuse_lost(context, timeline, saved)
        # Tried without a time first, so that a restore with nothing to undo takes none.
        if not plan_restore(context, timeline, saved, "").undone:
            return None
        plan = plan_restore(context, timeline, saved, plan_time(context, last, ACTION, timeline))
        planned = put_plan(context, last, plan.requested, ACTION, encode_restore_plan(plan))
    if planned is None or not decides_without_lock(context):
        return planned
    # Another actor may have asked for a restore to another savepoint, and an entry decides one restore at most.
    decided = load_restore_plan(context.storage, planned.requested)
    return planned if decided.savepoint == saved.requested else None
