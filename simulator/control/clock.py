"""Virtual time: the model's tick and the engine's instant are the same number, written in two ways."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)  # tick 0; in the past of every machine, so that no instant is a future one


@lru_cache(maxsize=1 << 12)
def instant_of(tick: int) -> str:
    """The 17-digit UTC instant of a model tick: EPOCH plus that many milliseconds."""
    moment = EPOCH + timedelta(milliseconds=tick)
    return moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03d}"


@lru_cache(maxsize=1 << 12)
def tick_of(instant: str) -> int:
    """The model tick of a 17-digit instant; the inverse of `instant_of`.

    Raises:
        ValueError: the text is not a 17-digit instant.
    """
    moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return int((moment - EPOCH).total_seconds()) * 1000 + int(instant[14:17])


class VirtualClock:
    """Hands out ticks 1, 2, 3, ... to all actors of a stage. Waiting out the skew costs nothing here."""

    def __init__(self) -> None:
        self.tick = 0

    def take(self) -> str:
        """The next instant, greater than all before."""
        self.tick += 1
        return instant_of(self.tick)

    def not_before(self, instant: str) -> None:
        """Later times will be greater than this one, which was found on the timeline."""
        self.tick = max(self.tick, tick_of(instant))


class Glance:
    """A look at the clock by nobody in particular: the time that it is, which nobody takes away from the actors."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def take(self) -> str:
        """The newest instant that was handed out."""
        return instant_of(self._clock.tick)

    def not_before(self, instant: str) -> None:
        """Looking moves nothing."""
