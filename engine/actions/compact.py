"""Schedule a compaction and run it."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan a compaction of the file groups that no pending plan covers, and run it. If every group has a pending plan,
    run the oldest plan.

    Returns None if there is no plan to run and nothing to compact. If this call makes a plan, it does not run older
    plans (see `run_compaction`), because their planners may still be alive.
    """
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
