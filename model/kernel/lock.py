"""The table's lock: the component `lock` is the name of its holder, or None (RFC-66, "Assumption On Locks")."""

from __future__ import annotations

from ..machine.transition import Changes, Guard


def is_held_by(lock: str | None, me: str) -> bool:
    """The view `holds_lock`: whether an actor holds the lock, as far as it can tell."""
    return lock == me


def lock_is_free(lock: str | None) -> bool:
    return lock is None


def holds(holds_lock: bool) -> bool:
    return holds_lock


LOCK_IS_FREE = Guard("the lock must be free", lock_is_free)
HOLDS_LOCK = Guard("{me} must hold the lock", holds)


def take_lock(me: str) -> Changes:
    return {"lock": me}


def release_lock(lock: str | None, me: str) -> Changes:
    return {"lock": released(lock, me)}


def released(lock: str | None, me: str) -> str | None:
    """The lock after `me` has released it. If `me` lost the lock earlier, another actor may hold it now."""
    return None if lock == me else lock
