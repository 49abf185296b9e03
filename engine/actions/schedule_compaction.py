"""Plans the compaction of every file group without a pending plan.

The plan's requested time is the barrier between the old file slice and the new one. The plan is made under the table's
lock, and includes the logs of every write that completed before the barrier. The planner does not wait for writers: a
pending write completes after the barrier, so its logs belong to the new slice. With a decision log, the operation also
returns None if another actor has created the next log entry first (see `put_plan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..config import TableConfig
from ..context import Context
from ..services.plan import make_plan, worth_compacting
from ..services.retirement import retire_unneeded
from ..timeline import SORT_BY, Instant, encode_plan
from ..writes.decided_plans import history_of, latest_decision, plan_time, put_plan
from ..writes.decision_log import in_order

ACTION = "compaction"


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan the compaction of all file groups that have no pending compaction plan. Returns None if there is nothing
    to compact.
    """
    return schedule(context, config)


def schedule(context: Context, config: TableConfig, sort_by: Sequence[str] = ()) -> Instant | None:
    """Publish a compaction plan, like `run`. `sort_by` lists the columns by which the rows of the new base files are
    sorted (clustering).
    """
    config.check_writable()
    config.check_function()  # before a plan is published that this process may not run
    with in_order(context):
        last = latest_decision(context)
        timeline = history_of(context, last).current
        slices = worth_compacting(context, timeline, retire_unneeded)
        # Before a time is taken, which costs a request where times are claimed.
        if not slices:
            return None
        barrier = plan_time(context, last, ACTION, timeline)
        plan = make_plan(context, config, timeline, slices, barrier)
        if sort_by:
            plan = replace(plan, extra={**plan.extra, SORT_BY: ",".join(sort_by)})
        return put_plan(context, last, barrier, ACTION, encode_plan(plan))
