"""Publishes the states of an instant. Each state is a new file, created atomically and never replaced."""

from __future__ import annotations

from ..errors import Conflict
from ..storage import Storage, put_own
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER


def put_requested(storage: Storage, requested: str, action: str, data: bytes = b"") -> Instant:
    """Publish ``<requested>.<action>.requested``. The caller holds the lock under which it took the time.

    `data`: a plan or the writer's token. A file with equal content counts as an earlier attempt of this writer.
    """
    return _put(storage, Instant(requested, action, "requested"), data)


def put_inflight(storage: Storage, requested: str, action: str, data: bytes = b"", again: bool = False) -> Instant:
    """Publish ``<requested>.<action>.inflight``. `again`: the file may exist, because the plan is resumed."""
    return _put(storage, Instant(requested, action, "inflight"), data, again)


def put_completed(storage: Storage, requested: str, completed: str, action: str, data: bytes) -> Instant:
    """Publish the completed instant: readers see its files from now on. The caller took `completed` under the lock.

    `action` may be the pending one: a compaction completes as ``commit``.
    """
    return _put(storage, Instant(requested, COMPLETES_AS.get(action, action), "completed", completed), data)


def _put(storage: Storage, instant: Instant, data: bytes, again: bool = False) -> Instant:
    """Put the file of a state. Equal content counts as success (`put_own`)."""
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
