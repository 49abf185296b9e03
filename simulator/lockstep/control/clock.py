"""Virtual time: each tick of the model's clock corresponds to one time on the engine's timeline."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from nbcc.engine.clock import WallClock

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)  # tick 0; in the past of every machine, so that no instant is a future one
_EPOCH_MS = int(EPOCH.timestamp()) * 1000


@lru_cache(maxsize=1 << 12)
def instant_of(tick: int) -> str:
    """Return the 17-digit UTC time of a model tick: EPOCH plus `tick` milliseconds."""
    moment = EPOCH + timedelta(milliseconds=tick)
    return moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03d}"


@lru_cache(maxsize=1 << 12)
def tick_of(instant: str) -> int:
    """Return the model tick of a 17-digit time; the inverse of `instant_of`.

    Raises ValueError if the text is not a 17-digit time.
    """
    moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return int((moment - EPOCH).total_seconds()) * 1000 + int(instant[14:17])


class VirtualClock:
    """A virtual clock, in ticks of one millisecond. `tick` is the virtual time, which the slowest of the actors' clocks
    shows. `skew` is the greatest difference between the actors' clocks, in ticks. A time generator waits this long
    after it has read its clock.

    If ``splits`` is True, times taken under the lock are odd, and those of requests without it are even. If ``in_two``
    is True, reading the clock and waiting are two calls, so that an actor can lose its lock between them.
    """

    def __init__(self) -> None:
        self.tick = self.skew = 0
        self.splits = self.in_two = False


class ActorsClock:
    """The clock of one actor: the engine's own time generator, driven by virtual time. A wait advances virtual time and
    returns immediately.

    ``ahead`` is how many ticks this clock is ahead of the slowest clock. If ``ahead`` has the special value -1, the
    clock shows the newest tick that any actor has received.
    """

    def __init__(self, virtual: VirtualClock) -> None:
        self.ahead = 0
        self._read_ahead = 0
        self._virtual = virtual
        self._generator = WallClock(virtual.skew, self._now_ns, self._sleep, virtual.splits)

    def take(self) -> str:
        """Return the generator's next time, after a wait for the clock skew, so that all other clocks have passed this
        time.
        """
        return self._generator.take()

    def take_unlocked(self) -> str:
        """Return the generator's next time for a request without the lock."""
        return self._generator.take_unlocked()

    @property
    def in_two(self) -> bool:
        """Return whether reading the clock and waiting for slower clocks are two separate calls."""
        return self._virtual.in_two

    def read(self) -> str:
        """Return the next time from the engine's time generator, without the wait for slower clocks."""
        # Kept until the wait, because the schedule may set `ahead` for another step in between.
        self._read_ahead = self.ahead
        return self._generator.read()

    def wait(self, instant: str) -> None:
        """Wait until the clocks of all actors have passed `instant`, which `read` returned."""
        self.ahead = self._read_ahead
        self._generator.wait(instant)

    def not_before(self, instant: str) -> None:
        """Ensure that all times returned from now on are greater than `instant`."""
        self._generator.not_before(instant)

    def pause(self, seconds: float) -> None:
        """Do nothing: the schedule decides which actor goes on."""

    def _now_ns(self) -> int:
        # One tick later than the newest time: the model's clock also advances before each time that it returns.
        return (_EPOCH_MS + self._virtual.tick + 1 + self.ahead) * 1_000_000

    def _sleep(self, seconds: float) -> None:
        self._virtual.tick += round(seconds * 1000)


class ReadOnlyClock:
    """A clock for reads: it returns the newest time without advancing, so that reads do not affect the actors' times.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def take(self) -> str:
        """Return the newest time that any actor has received from the clock."""
        return instant_of(self._clock.tick)

    def read(self) -> str:
        """Return the same time as `take`."""
        return self.take()

    def take_unlocked(self) -> str:
        """Return the newest time, like `take`: a read requests nothing."""
        return self.take()

    def not_before(self, instant: str) -> None:
        """Do nothing: a read-only clock issues no new times."""

    def pause(self, seconds: float) -> None:
        """Do nothing: a read waits for no other actor."""
