"""A clock with large steps."""

from __future__ import annotations

from nbcc.engine.clock import to_instant
from tests.builders.tables import EPOCH


class HourClock:
    """A clock whose readings are an hour apart."""

    def __init__(self) -> None:
        self.now = 0

    def take(self) -> str:
        self.now += 1
        return to_instant(EPOCH + self.now * 3_600_000)

    def not_before(self, instant: str) -> None:
        assert instant <= to_instant(EPOCH + self.now * 3_600_000)
