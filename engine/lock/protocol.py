"""The protocol of a table's lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Lock(Protocol):
    """Mutual exclusion of the writers of one table while they take times and publish."""

    def acquire(self) -> None:
        """Wait for the lock; `LockTimeout` if it is not acquired in time."""
        ...

    def release(self) -> None:
        """Release the lock. Only its holder may call this."""
        ...


@contextmanager
def held(lock: Lock) -> Iterator[None]:
    """Hold the lock during a block."""
    lock.acquire()
    try:
        yield
    finally:
        lock.release()
