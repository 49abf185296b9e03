"""Time: actors read one clock under the lock, and the clock never returns a time twice (RFC-66, "Global Monotonically
Increasing Timestamp").

The component `clock` contains the last time that an actor took: a requested or completion time (`publication.py`).
"""

from __future__ import annotations

from collections.abc import Callable

TakeTime = Callable[..., tuple[int, int]]
"""(clock, after, action of a requested instant) -> (a time later than `clock` and `after`, the clock afterwards)."""

READS_CLOCK = "reads clock"
"""The tag of a transition that takes a requested time or a completion time."""


def next_time(clock: int, after: int = 0, action: str = "") -> tuple[int, int]:
    """Take the clock's next time, for an instant of any kind."""
    time = max(clock, after) + 1
    return time, time


def one_clock() -> TakeTime:
    """The value of the views `request_time` and `completion_time`: every actor reads one clock."""
    return next_time
