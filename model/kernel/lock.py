"""Models the table's lock (RFC-66, "Assumption On Locks"): the state variable `lock` is the holder's name, or None.

Actors take requested times and publish instants under the lock.
"""

from __future__ import annotations

from ..machine.transition import Changes, Guard


def is_held_by(lock: str | None, me: str) -> bool:
    """True if the actor `me` holds the lock."""
    return lock == me


def lock_is_free(lock: str | None) -> bool:
    return lock is None


LOCK_IS_FREE = Guard("the lock must be free", lock_is_free)
"""A step with this guard that does not change `lock` takes and releases the lock within itself."""
HOLDS_LOCK = Guard("{me} must hold the lock", lambda holds_lock: holds_lock)


def take_lock(me: str) -> Changes:
    return {"lock": me}


def release_lock(lock: str | None, me: str) -> Changes:
    return {"lock": released(lock, me)}


def released(lock: str | None, me: str) -> str | None:
    """Return the holder of the lock after `me` has tried to release it. A lock held by another actor stays held."""
    return None if lock == me else lock
