"""Limits the duration of requests under a lease: a request ends before another writer can take the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from ..errors import Conflict

LIMITS: Final = tuple(2.0**power for power in range(6, -3, -1))
"""The possible limits in seconds, the longest first. A store is opened once for each limit that is used."""

_LEFT: Final[ContextVar[Callable[[], float] | None]] = ContextVar("seconds left of the lease", default=None)


@contextmanager
def under_lease(left: Callable[[], float] | None) -> Iterator[None]:
    """Limit the duration of this thread's storage requests during a `with` block. `left` returns the number of seconds
    until the lock's lease expires.

    If `left` is None, the lock has no lease, and requests have no time limit.
    """
    token = _LEFT.set(left)
    try:
        yield
    finally:
        _LEFT.reset(token)


def request_limit(url: str) -> float | None:
    """Return the time limit in seconds of this thread's next request; None if requests have no time limit. The limit is
    less than the remaining time of the lease, so that the request ends before the lease expires.

    Raises `Conflict` without sending a request if the lease has expired or is about to expire.
    """
    left_of_lease = _LEFT.get()
    if left_of_lease is None:
        return None
    left = left_of_lease()
    for limit in LIMITS:
        if limit < left:
            return limit
    raise Conflict(
        f"continue under the lock of the table {url}",
        f"{max(0.0, left):.2f} s are left of its lease, and another writer may take the lock after that",
        "run the operation again; if this happens often, set a longer hoodie.write.lock.storage.validity.timeout.secs",
    )
