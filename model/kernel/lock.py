"""The table's lock: the component `lock` is the name of its holder, or None (RFC-66, "Assumption On Locks")."""

from __future__ import annotations

from ..machine.transition import Guard


def lock_is_free(lock: str | None) -> bool:
    return lock is None


def holds_lock(lock: str | None, me: str) -> bool:
    return lock == me


def released(lock: str | None, me: str) -> str | None:
    """The lock after `me` released what it believes to hold: a lock that it has lost may be held by another actor."""
    return None if lock == me else lock


LOCK_IS_FREE = Guard("the lock must be free", lock_is_free)
HOLDS_LOCK = Guard("{me} must hold the lock", holds_lock)
