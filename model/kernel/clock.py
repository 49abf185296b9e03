"""Models the clock of the table: actors read one clock under the lock, and no two reads return the same time (RFC-66,
"Global Monotonically Increasing Timestamp").

The component (state variable) `clock` contains the last requested or completion time that an actor took from the clock.
"""

from __future__ import annotations

from collections.abc import Callable

TakeTime = Callable[..., tuple[int, int]]
"""(clock, after, action of a requested instant) -> (a time later than `clock` and `after`, the clock afterwards)."""

READS_CLOCK = "reads clock"
"""The tag of a transition that takes a requested time or a completion time."""


def next_time(clock: int, after: int = 0, action: str = "") -> tuple[int, int]:
    """Return a new time and the new value of the clock. The new time is later than both `clock` and `after`."""
    time = max(clock, after) + 1
    return time, time


def one_clock() -> TakeTime:
    """Return the default function for taking a time: all actors share one clock."""
    return next_time
