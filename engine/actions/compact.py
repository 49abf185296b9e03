"""Schedule a compaction and run it."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan a compaction of the groups without a pending plan, and run it; if there are none, run the oldest pending
    plan.

    None if there is nothing to compact. Otherwise an older plan waits for `run_compaction`: its own runner may still be
    alive, and two runners would do the same work.
    """
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
