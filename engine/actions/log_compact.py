"""Schedules and runs a log compaction."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_log_compaction, schedule_log_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Plan and run a log compaction. If no file group has several logs to merge, run the oldest pending log compaction.

    Returns None if there is no plan to run and nothing to compact.
    """
    plan = schedule_log_compaction.run(context, config)
    return run_log_compaction.run(context, config, plan)
