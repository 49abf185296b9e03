"""The lock seam under control: whoever cannot have it waits, at no cost, until the schedule frees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcc.engine.errors import LockTimeout

from .calls import Call

if TYPE_CHECKING:
    from .stage import Handle


class VirtualLock:
    """The one lock of a table: its holder's name, or None."""

    def __init__(self) -> None:
        self.holder: str | None = None
        self.lost: set[str] = set()  # who believes to hold it and does not

    def expire(self) -> None:
        """The lease of a holder that is dead has run out."""
        self.holder = None

    def lose(self) -> None:
        """The holder lives and does not know that it holds the lock no longer."""
        assert self.holder is not None, "somebody holds it"
        self.lost.add(self.holder)
        self.holder = None


class ControlledLock:
    """What an actor is given as lock."""

    def __init__(self, lock: VirtualLock, handle: Handle) -> None:
        self._lock = lock
        self._handle = handle

    def acquire(self) -> None:
        """Wait until the lock is free, then hold it; or, if the schedule wants it so, only until the wait is over.

        Raises:
            LockTimeout: another holds it.
        """
        over = self._handle
        over.call(Call("lock.acquire"), self._take, ready=lambda: over.stops_waiting or self._lock.holder is None)

    def release(self) -> None:
        """Give the lock back.

        Raises:
            RuntimeError: the caller does not hold it.
        """
        self._handle.call(Call("lock.release"), self._give)

    def _take(self) -> None:
        if self._handle.stops_waiting and self._lock.holder is not None:
            raise LockTimeout("lock the table", f"{self._lock.holder} holds its lock", "wait for it")
        self._lock.holder = self._handle.actor

    def _give(self) -> None:
        if self._handle.actor in self._lock.lost:
            self._lock.lost.discard(self._handle.actor)
            return
        if self._lock.holder != self._handle.actor:
            raise RuntimeError(f"{self._handle.actor} releases a lock that {self._lock.holder or 'nobody'} holds")
        self._lock.holder = None
