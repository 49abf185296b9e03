"""The table's lock (RFC-66, "Assumption On Locks"): the component `lock` is the name of the lock's holder, or None.

Actors publish (`publication.py`) and take requested times (`writer.py`, `compactor.py`) under the lock.
"""

from __future__ import annotations

from ..machine.transition import Changes, Guard


def is_held_by(lock: str | None, me: str) -> bool:
    """The view `holds_lock`: True if the actor `me` observes that it holds the lock."""
    return lock == me


def lock_is_free(lock: str | None) -> bool:
    return lock is None


LOCK_IS_FREE = Guard("the lock must be free", lock_is_free)
HOLDS_LOCK = Guard("{me} must hold the lock", lambda holds_lock: holds_lock)


def take_lock(me: str) -> Changes:
    return {"lock": me}


def release_lock(lock: str | None, me: str) -> Changes:
    return {"lock": released(lock, me)}


def released(lock: str | None, me: str) -> str | None:
    """The lock after `me` has released it. If `me` lost the lock before, another actor may hold it now."""
    return None if lock == me else lock
