"""Waiting for a lock that somebody else holds: first among the threads of this process, then by looking again."""

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

_POLL_SECONDS: Final = 0.02


class Waiting(ABC):
    """What every lock between processes has in common. `try_once` gives what it holds then, or None; `give_back` it.

    `held_by` says in a few words who is in the way, for the error that ends the wait.
    """

    def __init__(self, url: str, wait_seconds: float) -> None:
        self.url = url
        self._wait = wait_seconds
        self._threads = InProcessLock(url, wait_seconds)

    def acquire(self) -> None:
        self._threads.acquire()
        try:
            self._until_held()
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        self._threads.check_held()
        try:
            self.give_back()
        finally:
            self._threads.release()

    def _until_held(self) -> None:
        until = time.monotonic() + self._wait
        while not self.try_once():
            if time.monotonic() >= until:
                raise LockTimeout(
                    f"lock the table {self.url}",
                    f"{self.held_by()}, and {self._wait:g} s were not enough",
                    "wait for its operation, or look for one that hangs",
                )
            time.sleep(_POLL_SECONDS)

    def warn_of_lease(self, failed: Exception, seconds: int) -> None:
        """Warn that a lock could not be released, and when it ends by itself."""
        reason = str(failed).partition("\n")[0]
        warnings.warn(
            f"the lock of {self.url} was not released ({reason}); others can take it in {seconds} s", stacklevel=5
        )

    @abstractmethod
    def try_once(self) -> bool:
        """Take the lock if it is free."""

    @abstractmethod
    def give_back(self) -> None:
        """Give back what `try_once` took; a lock that is not ours any more stays as it is."""

    @abstractmethod
    def held_by(self) -> str:
        """Who is in the way."""


class Attempts:
    """The owners under which this process has tried to take a lock since it last had it, that one included.

    A put whose outcome was never known may have been carried out: a lock of such an owner is this process's own. It is
    not a forked child's.
    """

    def __init__(self) -> None:
        self._process, self._owners = 0, set[str]()

    def begin(self) -> str:
        """A new owner."""
        if self._process != os.getpid():
            self._process, self._owners = os.getpid(), set()
        owner = str(uuid.uuid4())
        self._owners.add(owner)
        return owner

    def succeeded(self, owner: str) -> None:
        """The lock is held under `owner`: no other attempt can have taken it as well."""
        self._owners = {owner}

    def include(self, owner: str) -> bool:
        """Whether that owner is one of these."""
        return self._process == os.getpid() and owner in self._owners


Now = Callable[[], int]
"""Milliseconds since the epoch."""


def wall_ms() -> int:
    """By the machine's clock."""
    return time.time_ns() // 1_000_000
