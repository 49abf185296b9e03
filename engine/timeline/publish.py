"""Publishes the states of an instant, each as a timeline file. The file of each state is created atomically and
never replaced.
"""

from __future__ import annotations

from ..errors import Conflict
from ..storage import Storage, put_own
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER


def put_requested(storage: Storage, requested: str, action: str, data: bytes = b"") -> Instant:
    """Publish the request of an instant as ``<requested>.<action>.requested``. The caller holds the lock under which it
    took the requested time.

    `data` is the content of the file, which is a plan or the writer's token. An existing file with equal content counts
    as success, because an earlier attempt of this writer created it.
    """
    return _put(storage, Instant(requested, action, "requested"), data)


def put_inflight(storage: Storage, requested: str, action: str, data: bytes = b"", again: bool = False) -> Instant:
    """Publish the inflight state of an instant as ``<requested>.<action>.inflight``. `again` is True if the file may
    already exist, because the plan is resumed.
    """
    return _put(storage, Instant(requested, action, "inflight"), data, again)


def put_completed(storage: Storage, requested: str, completed: str, action: str, data: bytes) -> Instant:
    """Publish the completed state of an instant, after which readers see its files. The caller has taken the time
    `completed` under the lock that it still holds.

    `action` may be the action of the pending instant: a compaction completes as ``commit``.
    """
    return _put(storage, Instant(requested, COMPLETES_AS.get(action, action), "completed", completed), data)


def _put(storage: Storage, instant: Instant, data: bytes, again: bool = False) -> Instant:
    """Put the file of a state onto the timeline. An existing file with equal content counts as success (`put_own`)."""
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
