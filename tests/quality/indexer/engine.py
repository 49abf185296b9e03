"""Build an index while writers write: plan, start, complete. The instants alone: no index is written."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..services.resume import completed
from ..timeline import Instant, load, put_inflight, put_requested
from ..writes.commit_protocol import new_time

ACTION = "indexing"


def run(context: Context, config: TableConfig) -> Instant:
    """Put the plan under the lock, start it, and publish."""
    with held(context.lock):
        requested = new_time(context, load(context.storage))
        put_requested(context.storage, requested, ACTION)
    put_inflight(context.storage, requested, ACTION)
    return completed(context, ACTION, requested, b"{}")
