"""Go back to a savepoint: schedule and run."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from . import run_restore, schedule_restore


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """If a restore is pending, run only that restore; it does not undo writes that were requested after the restore was
    planned. If no restore is pending, plan a restore and run it; return None if nothing has happened since the
    savepoint.
    """
    if (finished := run_restore.run(context, config)) is not None:
        return finished
    planned = schedule_restore.run(context, config, instant)
    return run_restore.run(context, config, planned) if planned else None
