"""Lets all tasks of a streaming batch share one instant, which the first task requests.

Spark's streaming writer runs code on the driver only after the tasks of a batch, so a task must request the instant.
The first task that acquires the table's lock requests the instant, and records it in a file in the folder of the batch.
All later tasks of the batch find the instant in the batch's folder and use it. Restarting a streaming query, or using a
copy of its checkpoint, begins another run of the query. A run of a query never uses an instant that another run has
requested.

Without a lock, each task that finds no instant requests one, and puts its time if absent as the elected one of the
batch and the run. The others withdraw theirs and use the elected one.
"""

from __future__ import annotations

from itertools import count
from typing import Final

from ..context import Context
from ..lock import held
from ..storage import NotFound
from ..timeline import put_inflight
from .commit_protocol import put_request, stop_heartbeat_on_error, undo_own_write
from .decision_log import decides_without_lock
from .idempotency import claim_batch, hash_of, pending_attempt, repeated
from .unlocked_request import request_without_lock

ELECTED: Final = ".hoodie/.nbcc/elected"
"""The folder of the elected instants, in one folder for each batch."""


def shared_request(context: Context, action: str, batch_id: str, owner: str) -> str:
    """Return the requested time of the inflight instant that `owner` uses to write the batch. The first caller for a
    batch requests the instant; later callers use the same one.

    `shared_request` also renews the instant's heartbeat from this process. Raises `Repeated` if the batch has already
    been written.
    """
    if decides_without_lock(context):
        return _elected_request(context, action, batch_id, owner)
    with held(context.lock):
        timeline = context.active()
        if there := repeated(context, timeline, batch_id):
            raise there
        attempt = pending_attempt(context, timeline, batch_id, owner)
        if attempt is not None:
            requested = attempt.requested
            # The process that requested the instant may have ended with its task, and its heartbeat with it.
            context.heartbeats.start(requested)
        else:
            requested = put_request(context, timeline, action)
        with stop_heartbeat_on_error(context, requested):
            claim_batch(context, requested, batch_id, owner)
            put_inflight(context.storage, requested, action, again=True)
        return requested


def _elected_request(context: Context, action: str, batch_id: str, owner: str) -> str:
    """Return the requested time of the pending instant that the tasks of a batch have elected, like `shared_request`.
    If it was rolled back, the tasks elect another one.
    """
    for number in count():
        elected = _elected(context, f"{_folder(batch_id)}/{hash_of(owner)}-{number:06d}", action, batch_id)
        timeline = context.active()
        if there := repeated(context, timeline, batch_id):
            raise there
        if timeline.find(elected, action) is not None:
            context.heartbeats.start(elected)
            return elected
    raise AssertionError("the loop ends with an instant")


def _elected(context: Context, path: str, action: str, batch_id: str) -> str:
    """Return the time in the object at `path`. If there is none, request an instant and put its time there."""
    try:
        return context.storage.get(path).decode()
    except NotFound:
        own, _ = request_without_lock(context, action, batch_id, starts=True)
    context.storage.put_if_absent(path, own.encode())
    # A second look: the put may have lost against another task, whose time counts then.
    elected = context.storage.get(path).decode()
    if elected != own:
        undo_own_write(context, own, action)
    return elected


def forget_elected(context: Context, batch_id: str) -> None:
    """Delete the elected instants of a batch that is committed: no task of it requests another instant."""
    if decides_without_lock(context):
        context.storage.delete_all([entry.path for entry in context.storage.list(_folder(batch_id))])


def _folder(batch_id: str) -> str:
    return f"{ELECTED}/{hash_of(batch_id)}"
