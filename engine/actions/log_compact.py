"""Schedules and runs a log compaction.

If no file group has several logs to merge, the oldest pending log compaction is run.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_log_compaction, schedule_log_compaction


def run(context: Context, config: TableConfig) -> Instant | None:
    """Merge the logs of each slice into one log, without rewriting base files. Returns None if no slice has several
    logs.
    """
    plan = schedule_log_compaction.run(context, config)
    return run_log_compaction.run(context, config, plan)
