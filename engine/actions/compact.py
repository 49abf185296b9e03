"""Schedule a compaction and run it."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan a compaction of the groups without a pending plan, and run it. If there are none, run the oldest pending
    plan.

    Returns None if there is nothing to compact. Otherwise `run_compaction` runs older plans: their planners may still
    be alive and run them.
    """
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
