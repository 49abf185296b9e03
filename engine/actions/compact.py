"""Schedule a compaction and run it."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan whatever no pending plan covers, then run the oldest pending plan. None if there is nothing to compact."""
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
