"""Undoes the pending writes of failed writers.

All pending rollbacks are run first. Completed writes are never rolled back.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from ..writes.decision_log import uses_decision_log
from . import publish_decided, run_rollback, schedule_rollback


def run(context: Context, config: TableConfig, instant: Time | None = None) -> tuple[Instant, ...]:
    """Undo all writes with expired heartbeats, or only the write `instant`. By default a heartbeat expires two
    minutes after its last renewal.
    """
    if uses_decision_log(context):
        publish_decided.run(context, config)  # what is decided did not fail
    done = []
    # Pending plans first, because the process that made them may have died.
    while instant is None and (finished := run_rollback.run(context, config)):
        done.append(finished)
    while planned := schedule_rollback.run(context, config, instant):
        finished = run_rollback.run(context, config, planned)
        assert finished is not None, "it was planned just now"
        done.append(finished)
        if instant is not None:
            break
    return tuple(done)
