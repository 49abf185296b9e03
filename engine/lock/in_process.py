"""A lock between the threads of one process; all `InProcessLock` objects with the same name share one lock."""

from __future__ import annotations

import os
from typing import Final

from ..errors import Conflict, LockTimeout
from ..forks import ThreadLock

# Never emptied: a lock that is dropped while a thread waits for it would let a second one in under the same name.
_REGISTRY: Final[dict[str, ThreadLock]] = {}
_REGISTRY_GUARD: Final = ThreadLock()


class InProcessLock:
    """The lock that excludes other threads of this process from a table; `name` is the URL of the table's storage.

    `InProcessLock` does not exclude other processes. A forked child process finds the lock free, even if the parent
    process held it at the fork.
    """

    def __init__(self, name: str, wait_seconds: float = 60.0) -> None:
        self._name = name
        self._wait = wait_seconds
        with _REGISTRY_GUARD:
            self._lock = _REGISTRY.setdefault(name, ThreadLock())
        self._holder: int | None = None

    def acquire(self) -> None:
        if not self._lock.acquire(timeout=self._wait):
            raise self.timed_out()
        self._holder = os.getpid()

    @property
    def wait_seconds(self) -> float:
        return self._wait

    def try_acquire(self) -> bool:
        if not self._lock.acquire(timeout=0):
            return False
        self._holder = os.getpid()
        return True

    def timed_out(self) -> LockTimeout:
        return LockTimeout(
            f"lock the table {self._name}",
            f"another thread has held its lock for {self._wait:g} s",
            "wait for that operation, or look for one that hangs",
        )

    def release(self) -> None:
        self.check_held()
        self._lock.release()

    def check_held(self) -> None:
        """Raise `Conflict` in a forked child of the process that acquired the lock."""
        if self._holder not in (None, os.getpid()):
            raise Conflict(
                f"release the lock of the table {self._name}",
                f"the process {self._holder} acquired it, and this one is a forked child of that",
                "begin and end an operation in the same process",
            )
