"""Requests to an object store that do not depend on each other, sent at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final, TypeVar

T = TypeVar("T")

WIDTH: Final = 8
"""The most requests of one operation that are sent at the same time."""


def in_parallel(requests: Iterable[Callable[[], T]]) -> list[T]:
    """The answers of all requests, in order, each in a thread of its own. Raises the first error after all have ended.

    The time limit of requests under a lease holds in the threads, too.
    """
    calls = [*requests]
    with ThreadPoolExecutor(min(WIDTH, max(1, len(calls))), thread_name_prefix="nbcc-request") as pool:
        answers = [pool.submit(copy_context().run, call) for call in calls]
    return [answer.result() for answer in answers]
