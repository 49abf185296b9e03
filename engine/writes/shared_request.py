"""Lets all tasks of a streaming batch share one instant, which the first task requests.

Spark's streaming writer runs code on the driver only after the tasks of a batch, so a task must request the instant.
The first task that acquires the table's lock requests the instant, and records it in a file in the folder of the batch.
All later tasks of the batch find the instant in the batch's folder and use it. Restarting a streaming query, or using a
copy of its checkpoint, begins another run of the query. A run of a query never uses an instant that another run has
requested.
"""

from __future__ import annotations

from ..context import Context
from ..lock import held
from ..timeline import load, put_inflight
from .commit_protocol import put_request, stop_heartbeat_on_error
from .idempotency import claim, pending_attempt, repeated


def shared_request(context: Context, action: str, batch_id: str, owner: str) -> str:
    """Return the requested time of the inflight instant that `owner` uses to write the batch. The first caller for a
    batch requests the instant; later callers use the same one.

    `shared_request` also renews the instant's heartbeat from this process. Raises `Repeated` if the batch has already
    been written.
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
