"""Sends independent requests to an object store concurrently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final, TypeVar

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
