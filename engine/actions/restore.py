"""Go back to a savepoint: schedule and run."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from . import run_restore, schedule_restore


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """If a restore is pending, run only that restore: writes that came after its plan are not undone. If no restore is
    pending, plan one and run it; None if nothing has happened since the savepoint.
    """
    if (finished := run_restore.run(context, config)) is not None:
        return finished
    planned = schedule_restore.run(context, config, instant)
    return run_restore.run(context, config, planned) if planned else None
