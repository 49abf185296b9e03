"""Thread locks that a forked child process never inherits in a locked state.

A forked child process contains only the thread that called fork. A plain `threading.Lock` held by another thread at the
fork would stay locked permanently in the child.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Final
from weakref import WeakSet

_ALL: Final[WeakSet[ThreadLock]] = WeakSet()


class ThreadLock:
    """A `threading.Lock` that is unlocked in a forked child. If `reentrant` is True, the thread that holds the lock can
    acquire it again.
    """

    def __init__(self, *, reentrant: bool = False) -> None:
        self._new = threading.RLock if reentrant else threading.Lock
        self._lock = self._new()
        _ALL.add(self)

    def acquire(self, timeout: float = -1) -> bool:
        """Acquire the lock within `timeout` seconds (-1 means no limit), and return whether it was acquired."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = self._new()


def _renew_all() -> None:
    for lock in list(_ALL):
        lock._renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew_all)
