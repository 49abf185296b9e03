"""The lock seam under control: whoever cannot have it waits, at no cost, until the schedule frees it."""

from __future__ import annotations

from nbcc.engine.errors import LockTimeout

from .caller import Caller
from .calls import Call


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

    def __init__(self, lock: VirtualLock, caller: Caller) -> None:
        self._lock = lock
        self._caller = caller

    def acquire(self) -> None:
        """Wait until the lock is free, then hold it; or, if the schedule wants it so, only until the wait is over.

        Raises:
            LockTimeout: another holds it.
        """
        caller = self._caller
        caller.call(Call("lock.acquire"), self._take, ready=lambda: caller.stops_waiting or self._lock.holder is None)

    def release(self) -> None:
        """Give the lock back.

        Raises:
            RuntimeError: the caller does not hold it.
        """
        self._caller.call(Call("lock.release"), self._give)

    def _take(self) -> None:
        if self._caller.stops_waiting and self._lock.holder is not None:
            raise LockTimeout("lock the table", f"{self._lock.holder} holds its lock", "wait for it")
        self._lock.holder = self._caller.actor

    def _give(self) -> None:
        if self._caller.actor in self._lock.lost:
            self._lock.lost.discard(self._caller.actor)
            return
        if self._lock.holder != self._caller.actor:
            raise RuntimeError(f"{self._caller.actor} releases a lock that {self._lock.holder or 'nobody'} holds")
        self._lock.holder = None
