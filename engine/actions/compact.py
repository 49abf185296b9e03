"""Schedule a compaction and run it."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan whatever no pending plan covers and run that; if it covers all, run the oldest pending plan.

    None if there is nothing to compact. Where others keep writing, what a dead compactor planned is left to
    `run_compaction`: its runner may be alive, and two of them do the same work.
    """
    plan = schedule_compaction.run(context, config)
    return run_compaction.run(context, config, plan)
