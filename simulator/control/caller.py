"""The interface that lets the controlled storage, lock and clock identify the calling actor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .calls import Call

T = TypeVar("T")


class Caller(Protocol):
    """The actor that makes a call, with the schedule's choices for this call.

    `shows` decides whether a listing includes an object that is put during the listing. `still_shows` decides whether a
    listing includes an object that is deleted during the listing. `loses_answer` contains the `Call.text` of each put
    that succeeds although its caller receives the answer that the object already exists. `stops_waiting` is True if the
    actor gives up waiting for a lock that another actor holds.
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
        """Execute a call when the schedule permits it, and record the call."""
