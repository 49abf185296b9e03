"""Cancels the pending resize: deletes its files and its plan."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..timeline import Instant
from ..timeline.instant import PENDING
from ..timeline.resize_plans import CLUSTERING
from ..timeline.timeline import FOLDER
from ..writes.attempts import forget_markers, marked_files
from ..writes.decision_log import decides_without_lock
from ..writes.mapping import pending_resize


def run(context: Context, config: TableConfig) -> Instant | None:
    """Cancel the pending resize: delete its files and its plan. Returns None if no resize is pending.

    A process that is running the resize raises `Conflict` when it completes it.
    """
    config.check_writable()
    if decides_without_lock(context):
        return None  # no resize is planned there
    with held(context.lock):  # so that no other process completes the resize meanwhile
        pending = pending_resize(context, context.active())
        if pending is None:
            return None
        instant, _ = pending
        for path in marked_files(context, instant.requested):
            context.storage.delete(path)
        forget_markers(context, instant.requested)
        for state in PENDING:
            context.storage.delete(f"{FOLDER}/{Instant(instant.requested, CLUSTERING, state).file_name}")
    return instant
