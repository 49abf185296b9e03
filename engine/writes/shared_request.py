"""One instant for all tasks of a batch whose writer has no process of its own before them.

Spark's streaming writer is a set of tasks and a commit. The first task that holds the lock requests the instant, and
its claim names the owner of the batch: the run of the query. The other tasks find that claim under the lock. A restart
or a copied checkpoint begins another run of the query. That run never continues the instant of this run.
"""

from __future__ import annotations

from ..context import Context
from ..lock import held
from ..timeline import load, put_inflight
from .commit_protocol import put_request, stop_heartbeat_on_error
from .idempotency import claim, pending_attempt, repeated


def shared_request(context: Context, action: str, batch_id: str, owner: str) -> str:
    """The requested time of the owner's attempt at a batch, inflight. The first caller requests the instant.

    Renews the instant's heartbeat from this process. Raises `Repeated` if the batch is written.
    """
    with held(context.lock):
        timeline = load(context.storage)
        if there := repeated(context, timeline, batch_id):
            raise there
        attempt = pending_attempt(context, timeline, batch_id, owner)
        if attempt is not None:
            requested = attempt.requested
            context.heartbeats.start(requested)
        else:
            requested = put_request(context, timeline, action)
        with stop_heartbeat_on_error(context, requested):
            claim(context, requested, batch_id, owner)
            put_inflight(context.storage, requested, action, again=True)
        return requested
