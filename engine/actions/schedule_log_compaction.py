"""Plan a log compaction: one log in place of the several of a slice."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..services.plan import make_log_plan, worth_log_compacting
from ..timeline import LOG_COMPACTION, Instant, encode_plan, load
from ..writes.claims import new_time
from ..writes.decision_log import look, put_plan


def run(context: Context, config: TableConfig) -> Instant | None:
    """Publish a plan over every file group with several logs in its newest slice; None if there is none.

    The timeline is listed under the lock, so that the plan takes all logs of the slice that have completed. Every later
    log ranks after them (RFC-66; docs/contract.md, LAWS). Where a log decides: None, too, if another actor took the
    number (`put_plan`).
    """
    config.check_writable()
    with held(context.lock):
        last = look(context)
        timeline = context.whole(load(context.storage))
        slices = worth_log_compacting(context, timeline)
        if not slices:
            return None
        plan = encode_plan(make_log_plan(config, slices), LOG_COMPACTION)
        return put_plan(context, last, new_time(context, timeline), LOG_COMPACTION, plan)
