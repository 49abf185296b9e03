"""Go back to a savepoint: schedule and run."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from . import run_restore, schedule_restore


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Finish a restore that is pending, else plan one and carry it out; None if nothing has happened since."""
    pending = run_restore.run(context, config)
    planned = schedule_restore.run(context, config, instant)
    return run_restore.run(context, config, planned) if planned else pending
