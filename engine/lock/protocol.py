"""The lock seam."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Lock(Protocol):
    """Mutual exclusion of everybody who takes times or publishes on one table."""

    def acquire(self) -> None:
        """Return when the lock is held; raises `LockTimeout` when it cannot be had in time."""
        ...

    def release(self) -> None:
        """Give it back; only its holder may."""
        ...


@contextmanager
def held(lock: Lock) -> Iterator[None]:
    """The lock around a block, released however the block ends."""
    lock.acquire()
    try:
        yield
    finally:
        lock.release()
