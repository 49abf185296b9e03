"""Time: one clock, read under the lock, never the same time twice (RFC-66, "Global Monotonically Increasing
Timestamp").

The component `clock` is the last time that was taken. An actor takes a requested time when it begins an instant, and a
completion time when it publishes the instant.
"""

from __future__ import annotations

from collections.abc import Callable

TakeTime = Callable[..., tuple[int, int]]
"""Of the action of the instant, the clock, and `after`: a time later than both, and the clock afterwards."""

READS_CLOCK = "reads clock"
"""The tag of a transition that takes a time."""


def next_time(action: str, clock: int, after: int = 0) -> tuple[int, int]:
    """The next time, later than `after`."""
    time = max(clock, after) + 1
    return time, time


def one_clock() -> TakeTime:
    """The views `request_time` and `completion_time`: every actor takes its times from one clock."""
    return next_time
