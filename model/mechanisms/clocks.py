"""Clocks that differ between actors, and requested times that must be unique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks(Options):
    """Clocks that differ between actors, and requested times that must be unique."""

    clock: Literal["true_time", "time_service", "local", "seconds"] = choice(
        "true_time",
        "true_time: read under the lock, the bound on the skew waited out; time_service: everybody asks one "
        "clock; local: each actor's own, nothing waited out; seconds: one clock that gives a second twice",
    )
    uniqueness: Literal["as_given", "test_and_set"] = choice(
        "as_given",
        "requested times as the clock gives them, or put if absent: who finds its own taken takes the next",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew(Limits):
    """Limits: clocks that differ between actors, and requested times that must be unique."""

    skew: int = limit(0, "how far the clocks of two actors may differ, in ticks")
    skew_beyond: int = limit(0, "by how many ticks the skew exceeds the bound that actors wait out (fault set F4)")


MECHANISM = Mechanism(options=Clocks, limits=Skew)
