"""Puts the states of an instant (requested, inflight, completed) as timeline files; the put of the completed state
publishes the instant. A timeline file is created atomically and never replaced.
"""

from __future__ import annotations

from ..errors import Conflict
from ..storage import Storage, put_own
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER


def put_requested(storage: Storage, requested: str, action: str, data: bytes = b"") -> Instant:
    """Put the requested state of an instant as ``<requested>.<action>.requested``. The caller must still hold the
    lock under which it obtained the requested time.

    `data` is the content of the file: a plan, or the writer's token. An existing file with equal content counts as
    success, because an earlier attempt of this writer created it.
    """
    return _put(storage, Instant(requested, action, "requested"), data)


def put_inflight(storage: Storage, requested: str, action: str, data: bytes = b"", again: bool = False) -> Instant:
    """Put the inflight state of an instant as ``<requested>.<action>.inflight``. `again` is True if another process
    may already have put the inflight state of the same instant.
    """
    return _put(storage, Instant(requested, action, "inflight"), data, again)


def put_completed(storage: Storage, requested: str, completed: str, action: str, data: bytes) -> Instant:
    """Publish the completed state of an instant, which makes its files visible to readers. The caller still holds the
    lock under which it took the time `completed`.

    `action` may be the pending action: `compaction` is published as ``commit``.
    """
    return _put(storage, Instant(requested, COMPLETES_AS.get(action, action), "completed", completed), data)


def _put(storage: Storage, instant: Instant, data: bytes, again: bool = False) -> Instant:
    """Create the timeline file of an instant's state. An existing file with equal content counts as success."""
    path = f"{FOLDER}/{instant.file_name}"
    if again:
        storage.put_if_absent(path, data)
    elif not put_own(storage, path, data):
        raise _taken(instant)
    return instant


def _taken(instant: Instant) -> Conflict:
    return Conflict(
        f"publish {instant.file_name}",
        "the timeline already holds it",
        "let all writers of this table take times under the same lock, and repeat the operation",
    )
