"""Generates instant times, which are strictly increasing 17-digit UTC strings (TrueTime in RFC-66).

An instant time has the form ``yyyyMMddHHmmssSSS``. Instant times of equal length are compared as strings.
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
    """Return the instant time that is `millis` milliseconds after 1970-01-01T00:00:00Z."""
    return of_moment(_EPOCH + millis * _MILLISECOND)


def of_moment(moment: datetime) -> str:
    """Return the instant time of a UTC datetime, truncated to milliseconds."""
    return f"{moment.year:04d}{moment:%m%d%H%M%S}{moment.microsecond // 1000:03d}"  # %Y has no leading zeros everywhere


def to_millis(instant: str) -> int:
    """Convert an instant time with 17 (or, in old tables, 14) digits to milliseconds since the epoch. Raises ValueError
    for a string that is not an instant time.
    """
    if len(instant) not in (14, 17) or not (instant.isascii() and instant.isdecimal()):
        raise ValueError(f"not an instant: {instant!r}")
    year, month, day, hour, minute, second = (int(instant[start:end]) for start, end in _FIELDS)
    whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return (whole - _EPOCH) // _MILLISECOND + int(instant[14:] or 0)


class Clock(Protocol):
    """The source of requested times and completion times. Callers of `take` must hold the table's lock."""

    def take(self) -> str:
        """Return a new time that is greater than all times that `take` has returned or `not_before` has received.
        `take` waits until every writer's clock has passed the returned time.
        """
        ...

    def read(self) -> str:
        """Return a time like `take`, without the wait. The caller must order the time by the decision log: another
        writer's clock may still return a smaller one.
        """
        ...

    def take_unlocked(self) -> str:
        """Return a new time for a request without the lock, without a wait for other clocks. It is greater than all
        times that this clock has returned or received, and differs from all times that `take` returns on any machine.
        """
        ...

    def not_before(self, instant: str) -> None:
        """Ensure that all further times of this clock are greater than `instant`. Raises `Conflict` if `instant` is in
        the future.
        """
        ...

    def pause(self, seconds: float) -> None:
        """Let other actors go on for so long, which only makes it likelier that this actor finds their work done."""
        ...


class WallClock:
    """A monotonic clock based on the machine's clock.

    If `splits` is True, `take` returns odd milliseconds only, and `take_unlocked` even ones.
    `skew_ms` is the maximum difference between the clocks of two writers. `take` waits for `skew_ms`, so that every
    subsequent call of `take` by any writer returns a greater time. The clock rejects an instant time that is more than
    `skew_ms` (at least 200 ms) in the future. After a commit with a future time, other commits could get smaller
    completion times, and Hudi's readers would miss these commits.
    """

    def __init__(
        self,
        skew_ms: int = ONE_CLOCK_MS,
        now_ns: Callable[[], int] = time.time_ns,
        sleep: Callable[[float], None] = time.sleep,
        splits: bool = False,
    ) -> None:
        self._splits = splits
        self._skew = skew_ms
        self._bound = max(skew_ms, SHARED_SKEW_MS)
        self._now_ns = now_ns
        self._sleep = sleep
        self._last = -1
        self._guard = ThreadLock()  # must be free in a child that is forked during the wait below

    def of_another_machine(self, now_ns: Callable[[], int], skew_ms: int) -> WallClock:
        """Return a clock with the same rules that reads another source, as the clock of another machine does."""
        return WallClock(skew_ms, now_ns, self._sleep, self._splits)

    def take(self) -> str:
        with self._guard:
            millis = self._read()
            # After this wait even a clock that is behind by the whole skew has passed `millis`.
            self._wait_until(millis + self._skew + 1)
        return to_instant(millis)

    def take_unlocked(self) -> str:
        with self._guard:
            return to_instant(self._read(parity=0))

    def read(self) -> str:
        with self._guard:
            millis = self._read()
            # An entry of the decision log takes several times at once. Its authors must not run ahead of their clocks.
            self._wait_until(millis - self._bound // 2)
        return to_instant(millis)

    def wait(self, instant: str) -> None:
        """Wait until every writer's clock has passed `instant`, a time returned by `read`."""
        self._wait_until(to_millis(instant) + self._skew + 1)

    def not_before(self, instant: str) -> None:
        millis = to_millis(instant)
        # The next time that this clock takes is up to two milliseconds later, and must not be refused after this.
        self._refuse_future(millis, least=2)
        with self._guard:
            self._last = max(self._last, millis)

    def pause(self, seconds: float) -> None:
        self._sleep(seconds)

    def _read(self, parity: int = 1) -> int:
        millis = max(self._now(), self._last + 1)
        if self._splits and millis % 2 != parity:
            millis += 1
        self._refuse_future(millis)
        self._last = millis
        return millis

    def _now(self) -> int:
        return self._now_ns() // 1_000_000

    def _wait_until(self, millis: int) -> None:
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

    def _refuse_future(self, millis: int, least: int = 0) -> None:
        """Raise `Conflict` if a time, or the one `least` milliseconds later, is further ahead than the bound."""
        now = self._now()
        if millis + least > now + self._bound:
            raise Conflict(
                "take a time after the newest instant of the timeline",
                f"that instant, {to_instant(millis)}, is {millis - now} ms ahead of this machine's clock",
                f"set the clocks right (they may differ by {self._bound} ms), or wait until that time has passed",
            )
