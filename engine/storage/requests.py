"""Requests to an object store: independent ones are sent concurrently, those under a lease end before another writer
can take the lock, and none is sent in a forked child process. A call to obstore, the object-store library, would hang
in a forked child, because obstore's threads do not survive the fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Final, TypeVar

from ..errors import Conflict, Unsupported

T = TypeVar("T")

WIDTH: Final = 8
"""The most requests of one operation that are sent at the same time."""


def in_parallel(requests: Iterable[Callable[[], T]]) -> list[T]:
    """Run all requests in threads, and return their results in the order of the requests. Raises the first error, after
    all requests have ended.

    The request time limit of the caller's lease also applies to the threads that run the requests.
    """
    calls = [*requests]
    with ThreadPoolExecutor(min(WIDTH, max(1, len(calls))), thread_name_prefix="nbcc-request") as pool:
        answers = [pool.submit(copy_context().run, call) for call in calls]
    return [answer.result() for answer in answers]


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
    # Few fixed limits, because each distinct one needs a client of its own with new connections.
    for limit in LIMITS:
        if limit < left:
            return limit
    raise Conflict(
        f"continue under the lock of the table {url}",
        f"{max(0.0, left):.2f} s are left of its lease, and another writer may take the lock after that",
        "run the operation again; if this happens often, set a longer hoodie.write.lock.storage.validity.timeout.secs",
    )


_STARTED: Final[list[int]] = []
"""The process in which the library was used first; a forked child inherits the entry."""


def refuse_forked(url: str) -> None:
    """Raise `Unsupported` in a forked child of a process that has used the store library. Call this function before
    every use of the store library.
    """
    process = os.getpid()
    if not _STARTED:
        _STARTED.append(process)
    if _STARTED[0] != process:
        raise Unsupported(
            f"use the table at {url} in process {process}",
            f"it was forked from process {_STARTED[0]}, which has used an object store: the store's threads ended",
            "start processes by multiprocessing.get_context('spawn'), or fork before an object store is used",
        )
