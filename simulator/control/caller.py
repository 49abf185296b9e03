"""The interface through which the controlled storage, lock and clock identify the actor that calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from .calls import Call

T = TypeVar("T")


class Caller(Protocol):
    """The actor that makes a call, with the choices of the schedule for this call.

    `shows` states whether a listing contains an object that was put while the listing ran. `still_shows` states whether
    a listing contains an object that was deleted while the listing ran. `loses_answer` are the texts of calls. The next
    put whose text is in `loses_answer` stores its object but reports that the object existed before. `stops_waiting`
    states whether a wait for the lock ends although another actor still holds the lock.
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
