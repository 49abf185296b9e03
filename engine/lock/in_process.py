"""A lock among the threads of one process: every `InProcessLock` of the same name is the same lock."""

from __future__ import annotations

import threading
from typing import Final

from ..errors import LockTimeout

_REGISTRY: Final[dict[str, threading.Lock]] = {}
_REGISTRY_GUARD: Final = threading.Lock()


class InProcessLock:
    """The lock of the table `name` (its storage's url) within this process.

    It does not keep other processes out: with several, use a lock that they share.
    """

    def __init__(self, name: str, wait_seconds: float = 60.0) -> None:
        self._name = name
        self._wait = wait_seconds
        with _REGISTRY_GUARD:
            self._lock = _REGISTRY.setdefault(name, threading.Lock())

    def acquire(self) -> None:
        if not self._lock.acquire(timeout=self._wait):
            raise LockTimeout(
                f"lock the table {self._name}",
                f"another thread has held its lock for {self._wait:g} s",
                "wait for that operation, or look for one that hangs",
            )

    def release(self) -> None:
        self._lock.release()
