"""Schedules and runs a restore, which returns the table to a savepoint."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from . import run_restore, schedule_restore


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """If a restore is pending, run only the pending restore, which does not undo writes that were requested after the
    restore was planned. If no restore is pending, plan and run a restore. Returns None if there is nothing to undo
    since the savepoint.
    """
    if (finished := run_restore.run(context, config)) is not None:
        return finished
    planned = schedule_restore.run(context, config, instant)
    return run_restore.run(context, config, planned) if planned else None
