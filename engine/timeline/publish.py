"""Putting an instant's states onto the timeline. Each is one atomic creation; nothing is ever replaced."""

from __future__ import annotations

from ..errors import Conflict
from ..storage import Storage, put_own
from .instant import COMPLETES_AS, Instant
from .timeline import FOLDER


def put_requested(storage: Storage, requested: str, action: str, data: bytes = b"") -> Instant:
    """Publish ``<requested>.<action>.requested``, under the lock that took the time.

    `data` is a plan, or a token of the writer: an equal content is taken for an earlier attempt of the same writer.
    """
    return _put(storage, Instant(requested, action, "requested"), data)


def put_inflight(storage: Storage, requested: str, action: str, data: bytes = b"", again: bool = False) -> Instant:
    """Publish ``<requested>.<action>.inflight``. `again`: an earlier attempt may have done so (a plan taken up)."""
    return _put(storage, Instant(requested, action, "inflight"), data, again)


def put_completed(storage: Storage, requested: str, completed: str, action: str, data: bytes) -> Instant:
    """Publish the completed instant: from here on its files are seen. Under the lock that took `completed`.

    `action` may be the pending one: a compaction completes as ``commit``.
    """
    return _put(storage, Instant(requested, COMPLETES_AS.get(action, action), "completed", completed), data)


def _put(storage: Storage, instant: Instant, data: bytes, again: bool = False) -> Instant:
    """If the file holds `data` already, an earlier attempt has put it, and only its answer was lost (`put_own`)."""
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
        "let everybody who writes this table take times under the same lock, and start the operation again",
    )
