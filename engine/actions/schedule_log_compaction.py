"""Plans a log compaction, which replaces several logs of a slice with one log.

The planner lists the timeline under the lock, so the plan includes the logs of all completed writes to a slice. The
logs of writes that complete later follow the planned logs in merge order (RFC-66; docs/contract.md, LAWS). With a
decision log, the operation also returns None if another actor has created the next log entry first (see `put_plan`).
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..services.plan import make_log_plan, worth_log_compacting
from ..services.retirement import retire_unneeded
from ..timeline import LOG_COMPACTION, Instant, encode_plan
from ..writes.decided_plans import history_of, latest_decision, plan_time, put_plan
from ..writes.decision_log import in_order


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan a log compaction, which merges the logs of each slice into one log. Returns None if no slice has several
    logs.
    """
    config.check_writable()
    config.check_function()  # before a plan is published that this process may not run
    with in_order(context):
        last = latest_decision(context)
        timeline = history_of(context, last).current
        slices = worth_log_compacting(context, timeline, retire_unneeded)
        if not slices:
            return None
        plan = encode_plan(make_log_plan(config, slices), LOG_COMPACTION)
        requested = plan_time(context, last, LOG_COMPACTION, timeline)
        return put_plan(context, last, requested, LOG_COMPACTION, plan)
