"""Schedules and runs a compaction.

A call that makes a new plan does not run older plans (see `run_compaction`), because the processes that made them may
still be running them.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan and run a compaction, or run the oldest pending plan. Returns None if there is nothing to compact."""
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
