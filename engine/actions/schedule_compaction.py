"""Plans the compaction of every file group without a pending plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..services.plan import make_plan, worth_compacting
from ..timeline import SORT_BY, Instant, encode_plan, load
from ..writes.claims import new_time
from ..writes.decision_log import latest_decision, put_plan

ACTION = "compaction"


def run(context: Context, config: TableConfig, sort_by: Sequence[str] = ()) -> Instant | None:
    """Publish a compaction plan and return its instant; None if there is nothing to compact.

    The plan's requested time is the barrier between the old file slice and the new one. The plan is made under the
    table's lock, and includes the logs of every write that completed before the barrier. The planner does not wait for
    writers: a pending write completes after the barrier, so its logs belong to the new slice. With a decision log, also
    returns None if another actor has created the next log entry first (see `put_plan`). `sort_by` lists the columns by
    which the rows of the new base files are sorted (clustering).
    """
    config.check_writable()
    config.check_function()  # before a plan is published that this process may not run
    with held(context.lock):
        last = latest_decision(context)
        timeline = context.unretired(load(context.storage))
        slices = worth_compacting(context, timeline)
        if not slices:
            return None
        barrier = new_time(context, timeline)
        plan = make_plan(context, config, timeline, slices, barrier)
        if sort_by:
            plan = replace(plan, extra={**plan.extra, SORT_BY: ",".join(sort_by)})
        return put_plan(context, last, barrier, ACTION, encode_plan(plan))
