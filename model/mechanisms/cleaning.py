"""Cleaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning(Options):
    """Cleaning."""

    retention: Literal["completion", "barrier", "any_barrier"] = choice(
        "completion",
        "which base file lets a clean delete what is older: one complete at the horizon; one complete by now "
        "with a barrier before the horizon; or any plan with such a barrier",
    )
    horizon: Literal["before_delete", "after_delete"] = choice(
        "before_delete",
        "published with the plan of a clean, or when its files are gone",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleans(Limits):
    """Limits: cleaning."""

    cleans: int = limit(0, "how many cleans may be planned")
    commits_retained: int = limit(
        0, "a clean keeps every state after the oldest of the newest so many writes", by=("cleaner",)
    )


MECHANISM = Mechanism(options=Cleaning, limits=Cleans)
