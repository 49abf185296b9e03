"""Times of the timeline: 17-digit UTC texts from a strictly increasing generator (TrueTime in RFC-66).

An instant's time has the form ``yyyyMMddHHmmssSSS``; times of equal length compare as strings.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from .errors import Conflict
from .forks import ThreadLock

ONE_CLOCK_MS: Final = 0  # the processes of one machine read the same clock
SHARED_SKEW_MS: Final = 200  # Hudi's hoodie.time.generator.max_expected_clock_skew_ms

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_FIELDS: Final = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))  # year to second


def to_instant(millis: int) -> str:
    """Return the timeline's text for `millis` milliseconds after 1970-01-01T00:00:00Z."""
    return of_moment(_EPOCH + millis * _MILLISECOND)


def of_moment(moment: datetime) -> str:
    """Return the timeline's text for a datetime in UTC, cut to milliseconds."""
    return f"{moment.year:04d}{moment:%m%d%H%M%S}{moment.microsecond // 1000:03d}"  # %Y has no leading zeros everywhere


def to_millis(instant: str) -> int:
    """Convert a time of the timeline with 17 (or, in old tables, 14) digits to milliseconds since the epoch. Raises
    ValueError for a text in another form.
    """
    if len(instant) not in (14, 17) or not (instant.isascii() and instant.isdecimal()):
        raise ValueError(f"not an instant: {instant!r}")
    year, month, day, hour, minute, second = (int(instant[start:end]) for start, end in _FIELDS)
    whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return (whole - _EPOCH) // _MILLISECOND + int(instant[14:] or 0)


class Clock(Protocol):
    """The source of requested and completion times. A caller of `take` or `not_before` holds the table's lock."""

    def take(self) -> str:
        """Return a new time, greater than all times that this clock has returned or has been given by `not_before`.
        `take` returns after every writer's clock has passed the time.
        """
        ...

    def not_before(self, instant: str) -> None:
        """Ensure that all further calls of `take` return times greater than this time of the timeline. Raises
        `Conflict` if the given time is in the future.
        """
        ...


class WallClock:
    """The machine's clock, made monotonic.

    `skew_ms` is the maximum difference between the clocks of two writers. `take` waits for `skew_ms`, so that every
    subsequent call of `take` by any writer returns a greater time. The clock refuses a time of the timeline that is
    more than `skew_ms` (at least 200 ms) in the future. If the clock accepted a time in the future, the commits after
    it could get smaller times, and Hudi's readers would miss these commits.
    """

    def __init__(
        self,
        skew_ms: int = ONE_CLOCK_MS,
        now_ns: Callable[[], int] = time.time_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._skew = skew_ms
        self._bound = max(skew_ms, SHARED_SKEW_MS)
        self._now_ns = now_ns
        self._sleep = sleep
        self._last = -1
        self._guard = ThreadLock()  # must be free in a child that is forked during the wait below

    def take(self) -> str:
        with self._guard:
            millis = self._read()
            # After this wait even a clock that is behind by the whole skew has passed `millis`.
            self._wait_until(millis + self._skew + 1)
        return to_instant(millis)

    def read(self) -> str:
        """Return a new time, which the clocks of other writers may not have passed yet (the first half of `take`)."""
        with self._guard:
            return to_instant(self._read())

    def wait(self, instant: str) -> None:
        """Wait until every writer's clock has passed a time that `read` returned (the second half of `take`)."""
        self._wait_until(to_millis(instant) + self._skew + 1)

    def not_before(self, instant: str) -> None:
        millis = to_millis(instant)
        self._refuse_future(millis)
        with self._guard:
            self._last = max(self._last, millis)

    def _read(self) -> int:
        millis = max(self._now(), self._last + 1)
        self._refuse_future(millis)
        self._last = millis
        return millis

    def _now(self) -> int:
        return self._now_ns() // 1_000_000

    def _wait_until(self, millis: int) -> None:
        """Sleep until the clock shows `millis`. Raises `Conflict` if the clock stepped back, because the caller holds
        the lock during the wait.
        """
        longest = (self._bound + self._skew + 1) * 1_000_000  # `take` has refused anything further ahead
        slept = 0
        while (left := millis * 1_000_000 - self._now_ns()) > 0:
            if left > longest or slept > 2 * longest:
                step = (slept + left) // 1_000_000 - self._skew - 1
                raise Conflict(
                    "take a time that no other clock will show again",
                    f"this machine's clock stepped back by about {step} ms during the wait for that",
                    "set the clock right, and repeat the operation",
                )
            self._sleep(left / 1e9)
            slept += left

    def _refuse_future(self, millis: int) -> None:
        now = self._now()
        if millis > now + self._bound:
            raise Conflict(
                "take a time after the newest instant of the timeline",
                f"that instant, {to_instant(millis)}, is {millis - now} ms ahead of this machine's clock",
                f"set the clocks right (they may differ by {self._bound} ms), or wait until that time has passed",
            )
