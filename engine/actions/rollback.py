"""Undoes the pending writes of failed writers."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..timeline import Instant
from ..writes.decision_log import uses_decision_log
from . import publish_decided, run_rollback, schedule_rollback


def run(context: Context, config: TableConfig, instant: Time | None = None) -> tuple[Instant, ...]:
    """Run all pending rollbacks, then roll back every write whose writer has failed. If `instant` is given, roll back
    only that write.

    Returns the completed rollbacks in the order of their execution; () if there was nothing to undo. Completed writes
    are never rolled back.
    """
    if uses_decision_log(context):
        publish_decided.run(context, config)  # what is decided did not fail
    done = []
    while instant is None and (finished := run_rollback.run(context, config)):
        done.append(finished)
    while planned := schedule_rollback.run(context, config, instant):
        finished = run_rollback.run(context, config, planned)
        assert finished is not None, "it was planned just now"
        done.append(finished)
        if instant is not None:
            break
    return tuple(done)
