"""Plans a log compaction, which replaces several logs of a slice with one log."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..services.plan import make_log_plan, worth_log_compacting
from ..timeline import LOG_COMPACTION, Instant, encode_plan, load
from ..writes.claims import new_time
from ..writes.decision_log import latest_decision, put_plan


def run(context: Context, config: TableConfig) -> Instant | None:
    """Publish a log compaction plan for all file groups with several logs in their newest slice.

    Returns None if no file group has several logs in its newest slice. The planner lists the timeline under the lock,
    so the plan includes the logs of all completed writes to a slice. The logs of writes that complete later follow the
    planned logs in merge order (RFC-66; docs/contract.md, LAWS). With a decision log, also returns None if another
    actor has created the next log entry first (see `put_plan`).
    """
    config.check_writable()
    config.check_function()  # before a plan is published that this process may not run
    with held(context.lock):
        last = latest_decision(context)
        timeline = context.unretired(load(context.storage))
        slices = worth_log_compacting(context, timeline)
        if not slices:
            return None
        plan = encode_plan(make_log_plan(config, slices), LOG_COMPACTION)
        return put_plan(context, last, new_time(context, timeline), LOG_COMPACTION, plan)
