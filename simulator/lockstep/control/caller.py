"""The interface that lets the controlled storage, lock and clock identify the calling actor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .calls import Call

T = TypeVar("T")


class Caller(Protocol):
    """The actor that makes a call to the controlled storage, lock or clock, and the schedule's decisions about this
    call.

    `shows(path)` is True if a listing includes an object that is put while the listing runs. `still_shows(path)` is
    True if a listing includes an object that is deleted while it runs. `loses_answer` contains the `Call.text` of each
    put that succeeds but reports that the object already exists, because its first answer is lost. `stops_waiting` is
    True if the actor gives up waiting for a lock that another actor holds.
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
