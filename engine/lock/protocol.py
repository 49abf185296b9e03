"""The protocol of a table's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from ..storage import under_lease


class Lock(Protocol):
    """Mutual exclusion of the writers of one table while they take times and publish."""

    def acquire(self) -> None:
        """Wait for the lock; `LockTimeout` if it is not acquired in time."""
        ...

    def release(self) -> None:
        """Release the lock. Only the holder of the lock may call this."""
        ...


@runtime_checkable
class Lease(Protocol):
    """A lock that another writer may take when its time is over, although its holder is alive."""

    def left(self) -> float:
        """The seconds until the lease expires, by this machine's clock."""
        ...


def _call(release: Callable[[], None]) -> None:
    release()


@contextmanager
def held(lock: Lock, release_by: Callable[[Callable[[], None]], object] = _call) -> Iterator[None]:
    """Hold the lock during a block. Under a lease each request of the block ends before the lease.

    `release_by`: after a block without an error it is called with the release, and may do other work at the same time.
    """
    lock.acquire()
    try:
        with under_lease(lock.left if isinstance(lock, Lease) else None):
            yield
    except BaseException:
        lock.release()
        raise
    release_by(lock.release)
