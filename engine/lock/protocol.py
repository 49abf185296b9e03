"""The interface of a table's lock."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar, runtime_checkable

from ..errors import LockTimeout, Unsupported
from ..storage import under_lease

T = TypeVar("T")

_SHORTEST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.16
"""Seconds between two polls of `held_unless`: they grow, because each poll is a request."""


class Lock(Protocol):
    """A lock that excludes a table's other writers while its holder chooses times and publishes instants."""

    def acquire(self) -> None:
        """Wait for the lock; raise `LockTimeout` if it is not acquired in time."""
        ...

    def release(self) -> None:
        """Release the lock. Only the holder of the lock may call `release`."""
        ...


@runtime_checkable
class ExpiringLock(Protocol):
    """A lock that expires, so that another writer can take it over even if the holder is alive."""

    def left(self) -> float:
        """The seconds until the lease expires, according to this machine's clock."""
        ...


@runtime_checkable
class PolledLock(Protocol):
    """A lock of which an actor can ask whether it is free, and do something else while it is not."""

    @property
    def wait_seconds(self) -> float:
        """For how long an actor asks."""
        ...

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        ...

    def timed_out(self) -> LockTimeout:
        """Return the error for an actor that has asked for `wait_seconds` in vain."""
        ...


class RefusedLock:
    """The lock of a table whose writers take none, because an entry of the decision log decides what they announce. An
    operation that would need the lock raises `Unsupported`.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def acquire(self) -> None:
        raise Unsupported(
            f"lock the table {self._url}",
            "its writers commit without a lock (nbcc.decision=free), which would not stop them",
            "convert it to nbcc.decision=lock, log or shared (Table.convert) while no process writes",
        )

    def release(self) -> None:
        raise AssertionError("it is never held")


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
    with _release_after(lock, release_by):
        yield


class HeldLock:
    """The lock of a table that the caller holds already: operations that take it go on at once."""

    def __init__(self, lock: Lock) -> None:
        # Set only then, because `ExpiringLock` is recognised by this attribute.
        if isinstance(lock, ExpiringLock):
            self.left = lock.left

    def acquire(self) -> None: ...

    def release(self) -> None: ...


@contextmanager
def held_unless(
    lock: Lock, done: Callable[[], T | None], release_by: Callable[[Callable[[], None]], object] = _call
) -> Iterator[T | None]:
    """Hold a table lock during a `with` block, like `held`; the value of the block is None. If `done` returns a result
    before the lock is free, that result is the value, and the block runs without the lock.
    """
    result = _acquired_unless(lock, done)
    if result is not None:
        yield result
        return
    with _release_after(lock, release_by):
        yield None


def _acquired_unless(lock: Lock, done: Callable[[], T | None]) -> T | None:
    """Wait for the lock, and return None when it is held; or return the result of `done` and hold nothing."""
    if not isinstance(lock, PolledLock):
        # Asked once: this lock cannot be polled, and it blocks from here on.
        result = done()
        if result is None:
            lock.acquire()
        return result
    until, pause = time.monotonic() + lock.wait_seconds, _SHORTEST_PAUSE
    while not lock.try_acquire():
        if (result := done()) is not None:
            return result
        if time.monotonic() >= until:
            raise lock.timed_out()
        # A random part, so that writers that failed together do not poll together.
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(1.5 * pause, _LONGEST_PAUSE)
    return None


@contextmanager
def _release_after(lock: Lock, release_by: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    try:
        with under_lease(lock.left if isinstance(lock, ExpiringLock) else None):
            yield
    except BaseException:
        lock.release()
        raise
    # Outside the `try`: a release that fails must not be followed by a second one.
    release_by(lock.release)
