"""An actor in the midst of an operation, as storage, lock and clock under control see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .calls import Call

T = TypeVar("T")


class Caller(Protocol):
    """Who makes a call, and what the schedule has in store for it.

    shows          which of the objects that came while a listing ran it holds
    still_shows    which of those that went
    loses_answer   whether the next put happens and is answered by "exists"
    stops_waiting  whether a wait for the lock ends before the lock is there
    """

    actor: str
    shows: Callable[[str], bool]
    still_shows: Callable[[str], bool]
    loses_answer: bool
    stops_waiting: bool

    def call(
        self,
        call: Call,
        execute: Callable[[], T],
        outcome: Callable[[T], str] = ...,
        ready: Callable[[], bool] | None = None,
    ) -> T:
        """Make a call at the conductor's time and record what it touched."""
