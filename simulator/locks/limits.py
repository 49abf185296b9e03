"""The limits of a lock model, and the clocks of the contenders (actors that compete for the lock)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

TICK_MS: Final = 500
"""The milliseconds of a tick of the models: the margin that the engine's locks leave for clocks that drift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockLimits:
    """The bounds of a search of a lock model. Times are in ticks of 500 ms.

    `contenders` is the number of actors that compete for the lock. `ticks` is the last time that a clock can reach.
    `lease` is the number of ticks after which a lease expires. `drift` is the greatest difference between two clocks.
    `attempts` is the number of times that each contender tries to acquire a free lock. `faults` is the total number of
    requests that may fail or lose their answer. `crashes` is the greatest number of crashes in a run.
    """

    contenders: int = 2
    ticks: int = 4
    lease: int = 1
    drift: int = 1
    attempts: int = 1
    faults: int = 1
    crashes: int = 1


class Clocked(Protocol):
    """A contender (actor that competes for the lock) with a clock."""

    @property
    def clock(self) -> int: ...

    @property
    def is_alive(self) -> bool: ...


def may_tick(own: Clocked, others: Iterable[Clocked], limits: LockLimits) -> bool:
    """True if a contender's clock can advance by one tick without exceeding the allowed drift from other clocks."""
    slowest = min((other.clock for other in others if other.is_alive), default=own.clock)
    return own.clock < limits.ticks and own.clock + 1 - slowest <= limits.drift
