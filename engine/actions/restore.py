"""Schedules and runs a restore, which returns the table to a savepoint.

If a restore is pending, only the pending restore is run, which does not undo writes that were requested after the
restore was planned.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from ..writes.decision_log import decides_without_lock
from . import run_restore, schedule_restore


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Undo all pending instants, and all instants that completed after a savepoint (default: the newest savepoint)."""
    if (finished := run_restore.run(context, config)) is not None:
        return finished
    planned = schedule_restore.run(context, config, instant=instant)
    # Without the lock, another restorer may have been faster: this one runs its plan.
    return run_restore.run(context, config, instant=planned) if planned or decides_without_lock(context) else None
