"""The controlled lock: the schedule decides when a waiting actor continues, and waiting takes no real time."""

from __future__ import annotations

from nbcc.engine.errors import LockTimeout

from .caller import Caller
from .calls import Call


class VirtualLock:
    """The simulated lock of one table."""

    def __init__(self) -> None:
        self.holder: str | None = None
        self.lost: set[str] = set()  # actors that have lost it and do not know

    def expire(self) -> None:
        """Free the lock, as if the lease of its crashed holder had expired."""
        self.holder = None

    def lose(self) -> None:
        """Free the lock without notifying its holder, which is still alive."""
        assert self.holder is not None, "an actor holds it"
        self.lost.add(self.holder)
        self.holder = None


class ControlledLock:
    """The table's lock, as used by one actor."""

    def __init__(self, lock: VirtualLock, caller: Caller) -> None:
        self._lock = lock
        self._caller = caller

    def acquire(self) -> None:
        """Wait until the lock is free, then acquire it.

        Raises LockTimeout if the schedule ends the wait while another actor holds the lock.
        """
        caller = self._caller
        caller.call(Call("lock.acquire"), self._take, ready=lambda: caller.stops_waiting or self._lock.holder is None)

    def release(self) -> None:
        """Release the lock.

        Raises RuntimeError if the caller does not hold the lock.
        """
        self._caller.call(Call("lock.release"), self._give)

    def _take(self) -> None:
        if self._caller.stops_waiting and self._lock.holder is not None:
            raise LockTimeout("lock the table", f"{self._lock.holder} holds its lock", "wait for it")
        self._lock.holder = self._caller.actor

    def _give(self) -> None:
        if self._caller.actor in self._lock.lost:
            # The actor does not know that it has lost the lock. Its release must not free that of another holder.
            self._lock.lost.discard(self._caller.actor)
            return
        if self._lock.holder != self._caller.actor:
            raise RuntimeError(f"{self._caller.actor} releases a lock that {self._lock.holder or 'no actor'} holds")
        self._lock.holder = None


class ObserversLock:
    """A lock that does nothing, for observers: they only read the table and generate no timestamps."""

    def acquire(self) -> None:
        ...

    def release(self) -> None:
        """Do nothing."""
