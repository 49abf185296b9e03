"""The base class of locks that exclude other processes. A thread first excludes the other threads of its process, then
waits for the lock of the other processes.
"""

from __future__ import annotations

import os
import time
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from ..errors import LockTimeout
from .in_process import InProcessLock

DRIFT_MS: Final = 500
"""A lease counts as free only so many milliseconds after its end, because the clocks of writers drift."""


class Waiting(ABC):
    """A lock that excludes other processes. A writer that waits for the lock polls it. Subclasses implement one attempt
    (`try_once`), the release (`give_back`) and the name of the holder (`held_by`).
    """

    poll_seconds = 0.02

    def __init__(self, url: str, wait_seconds: float) -> None:
        self.url = url
        self._wait = wait_seconds
        # Threads of this process queue here, so that a process sends one request at a time for the lock.
        self._threads = InProcessLock(url, wait_seconds)

    def acquire(self) -> None:
        self._threads.acquire()
        try:
            self._until_held()
        except BaseException:
            self._threads.release()
            raise

    @property
    def wait_seconds(self) -> float:
        return self._wait

    def try_acquire(self) -> bool:
        if not self._threads.try_acquire():
            return False
        taken = False
        try:
            taken = self.try_once()
        finally:
            if not taken:
                self._threads.release()
        return taken

    def timed_out(self) -> LockTimeout:
        return LockTimeout(
            f"lock the table {self.url}",
            f"{self.held_by()}, and {self._wait:g} s were not enough",
            "wait for its operation, or look for one that hangs",
        )

    def release(self) -> None:
        self._threads.check_held()
        # The processes before the threads: a thread that waits must find the lock free when its turn comes.
        try:
            self.give_back()
        finally:
            self._threads.release()

    def _until_held(self) -> None:
        until = time.monotonic() + self._wait
        while not self.try_once():
            if time.monotonic() >= until:
                raise self.timed_out()
            time.sleep(self.poll_seconds)

    def warn_of_lease(self, failed: Exception, seconds: int) -> None:
        """Warn that the lease was not released and will expire in at most `seconds` seconds."""
        reason = str(failed).partition("\n")[0]
        warnings.warn(
            f"the lock of {self.url} was not released ({reason}); others can take it in {seconds} s", stacklevel=5
        )

    @abstractmethod
    def try_once(self) -> bool:
        """Take the lock if it is free."""

    @abstractmethod
    def give_back(self) -> None:
        """Release the lock. `give_back` has no effect if this process has lost the lock."""

    @abstractmethod
    def held_by(self) -> str:
        """Return a short description of the lock's holder for the `LockTimeout` message."""


class Attempts:
    """The owner names with which this process has tried to acquire a lock. Once the lock is acquired, only the owner
    name of the successful attempt remains.

    A put with an unknown outcome may have succeeded, so the lock may name any recorded attempt as its owner. A forked
    child process does not use the owner names of its parent.
    """

    def __init__(self) -> None:
        self._process, self._owners = 0, set[str]()

    def begin(self) -> str:
        """Begin an attempt to acquire the lock, and return a new owner name for the attempt."""
        if self._process != os.getpid():
            # A fork copied the names, and the parent may hold the lock under one of them.
            self._process, self._owners = os.getpid(), set()
        owner = str(uuid.uuid4())
        self._owners.add(owner)
        return owner

    def succeeded(self, owner: str) -> None:
        """Record that the process has acquired the lock under the name `owner`, and forget all other names."""
        self._owners = {owner}

    def include(self, owner: str) -> bool:
        """Return whether this process has used the owner name `owner` in an attempt to acquire the lock."""
        return self._process == os.getpid() and owner in self._owners


Now = Callable[[], int]
"""Milliseconds since the epoch."""


def wall_ms() -> int:
    """Return the time of the machine's clock in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
