"""The limits of a lock model, and the clocks of the contenders (actors that compete for the lock)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

TICK_MS: Final = 500
"""The milliseconds of a tick of the models: the margin that the engine's locks leave for clocks that drift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockLimits:
    """The limits of the search. Times are in ticks.

    contenders: The number of actors that want the lock. ticks: The last time of every clock. lease: The validity of a
    lease. drift: The greatest difference between two clocks. attempts: How often each contender tries to take a lock
    that is free. faults: How many requests fail or lose their answer, in all. crashes: How many contenders die, in all.
    """

    contenders: int = 2
    ticks: int = 4
    lease: int = 1
    drift: int = 1
    attempts: int = 1
    faults: int = 1
    crashes: int = 1


class Clocked(Protocol):
    """A contender with a clock."""

    @property
    def clock(self) -> int: ...

    @property
    def is_alive(self) -> bool: ...


def may_tick(own: Clocked, others: Iterable[Clocked], limits: LockLimits) -> bool:
    """True if a clock can advance by a tick and still differ from every other clock by at most the drift."""
    slowest = min((other.clock for other in others if other.is_alive), default=own.clock)
    return own.clock < limits.ticks and own.clock + 1 - slowest <= limits.drift
