"""Schedules and runs a compaction."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan a compaction of the file groups without a pending plan, and run the new plan. If there is nothing to plan,
    run the oldest pending plan.

    Returns None if there is no plan to run. A call that makes a new plan does not run older plans (see
    `run_compaction`), because the processes that made them may still be running them.
    """
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
