"""The limits of a lock model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LockLimits:
    """The bounds of a search of a lock model. Times are in ticks of 500 ms, the margin that the engine's
    locks leave for clocks that drift.

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
