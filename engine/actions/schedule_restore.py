"""Plans a restore. Once the restore plan is published, readers ignore the instants listed in the plan."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..reads.times import Time
from ..services.restoring import plan_restore, refuse_newer
from ..services.savepoints import to_use
from ..timeline import Instant
from ..timeline.restores import ACTION, encode_restore_plan
from ..writes.claims import new_time
from ..writes.decided_plans import latest_decision, put_plan


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Publish a restore plan and return its instant; None if there is nothing to undo or if a restore is already
    pending.

    `instant` is the savepoint or its requested time (default: the newest savepoint). The restore plan is made under the
    lock; it lists all pending instants and the instants that completed after the savepoint's instant. Before
    publication, a writer checks under the table's lock whether a restore undoes the writer's instant (docs/contract.md,
    REC). Raises `BadInput` if the savepoint does not exist, or if a newer savepoint exists.
    """
    config.check_writable()
    with held(context.lock):
        last = latest_decision(context)
        timeline = context.active()
        if any(each.action == ACTION for each in timeline.pending):
            return None
        saved = to_use(timeline, instant, "restore the savepoint")
        refuse_newer(timeline, saved)
        if not plan_restore(context, timeline, saved, "").undone:
            return None
        plan = plan_restore(context, timeline, saved, new_time(context, timeline))
        return put_plan(context, last, plan.requested, ACTION, encode_restore_plan(plan))
