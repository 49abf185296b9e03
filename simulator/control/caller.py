"""An actor during an operation, as controlled storage, lock and clock see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .calls import Call

T = TypeVar("T")


class Caller(Protocol):
    """The maker of a call, with the choices that the schedule has made for it.

    shows          whether a listing contains an object that was put while the listing ran
    still_shows    whether a listing contains an object that was deleted while the listing ran
    loses_answer   the texts of calls: the next such put stores its object and answers "exists"
    stops_waiting  whether a wait for the lock ends although another actor still holds the lock
    """

    actor: str
    shows: Callable[[str], bool]
    still_shows: Callable[[str], bool]
    loses_answer: tuple[str, ...]
    stops_waiting: bool

    def call(
        self,
        call: Call,
        execute: Callable[[], T],
        outcome: Callable[[T], str] = ...,
        ready: Callable[[], bool] | None = None,
    ) -> T:
        """Make a call when the conductor permits it, and record the access."""
