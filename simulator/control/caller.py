"""The interface that lets the controlled storage, lock and clock identify the calling actor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .calls import Call

T = TypeVar("T")


class Caller(Protocol):
    """The actor that makes a call, with the schedule's choices for this call.

    `shows` decides whether a listing contains an object that was put while the listing ran. `still_shows` decides
    whether a listing contains an object that was deleted while the listing ran. `loses_answer` lists calls in the form
    of `Call.text`, such as ``put deltacommit.requested``. The next put listed in `loses_answer` stores its object but
    reports that the object already existed. `stops_waiting` is True if a wait for the lock ends although another actor
    still holds the lock.
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
        """Make a call when the schedule permits it, and record the access."""
