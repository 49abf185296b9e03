"""The interface of a table's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from ..storage import under_lease


class Lock(Protocol):
    """A lock that excludes a table's other writers while its holder chooses times and publishes instants."""

    def acquire(self) -> None:
        """Wait for the lock; raise `LockTimeout` if it is not acquired in time."""
        ...

    def release(self) -> None:
        """Release the lock. Only the holder of the lock may call `release`."""
        ...


@runtime_checkable
class Lease(Protocol):
    """A lock that expires, so that another writer can take it over even if the holder is alive."""

    def left(self) -> float:
        """The seconds until the lease expires, according to this machine's clock."""
        ...


def _call(release: Callable[[], None]) -> None:
    release()


@contextmanager
def held(lock: Lock, release_by: Callable[[Callable[[], None]], object] = _call) -> Iterator[None]:
    """Hold a table lock during a `with` block. If the lock is a lease, every storage request of the `with` block must
    end before the lease expires.

    If the `with` block raises an error, the lock is released at once. Otherwise, `release_by` is called with the
    function that releases the lock. `release_by` may call this function concurrently with other requests.
    """
    lock.acquire()
    try:
        with under_lease(lock.left if isinstance(lock, Lease) else None):
            yield
    except BaseException:
        lock.release()
        raise
    release_by(lock.release)
