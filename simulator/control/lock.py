"""The controlled lock: the schedule decides when a waiting actor continues, and no real time passes."""

from __future__ import annotations

from nbcc.engine.errors import LockTimeout

from .caller import Caller
from .calls import Call


class VirtualLock:
    """The single lock of a table."""

    def __init__(self) -> None:
        self.holder: str | None = None
        self.lost: set[str] = set()  # actors that have lost it and do not know

    def expire(self) -> None:
        """Free the lock, because the lease of its dead holder has expired."""
        self.holder = None

    def lose(self) -> None:
        """Free the lock without notice to the live holder of the lock."""
        assert self.holder is not None, "an actor holds it"
        self.lost.add(self.holder)
        self.holder = None


class ControlledLock:
    """The lock of the table, as one actor uses it."""

    def __init__(self, lock: VirtualLock, caller: Caller) -> None:
        self._lock = lock
        self._caller = caller

    def acquire(self) -> None:
        """Wait until the lock is free, then hold it. The schedule may end the wait before the lock is free.

        Raises:
            LockTimeout: the wait has ended, and another actor holds the lock.
        """
        caller = self._caller
        caller.call(Call("lock.acquire"), self._take, ready=lambda: caller.stops_waiting or self._lock.holder is None)

    def release(self) -> None:
        """Release the lock.

        Raises:
            RuntimeError: the caller does not hold the lock.
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
            raise RuntimeError(f"{self._caller.actor} releases a lock that {self._lock.holder or 'no actor'} holds")
        self._lock.holder = None


class ObserversLock:
    """The lock of an observer. An observer's lock has no effect, because an observer takes no time from the clock."""

    def acquire(self) -> None:
        ...

    def release(self) -> None:
        """Do nothing."""
