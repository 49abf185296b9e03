"""Consumers of incremental windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumers(Options):
    """Consumers of incremental windows."""

    checkpoint: Literal["end_of_window", "before_pending", "fenced"] = choice(
        "end_of_window",
        "what a consumer stores: where its window ended; the last time before the oldest write under way, so "
        "that it reads what came after again (RFC-22, option 1); fenced: it reads no further (option 2)",
    )
    behind_horizon: Literal["refused", "skipped"] = choice(
        "refused",
        "a window that begins before the horizon is refused, or what is left of it is read",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumedWindows(Limits):
    """Limits: consumers of incremental windows."""

    windows: int = limit(0, "how many windows each consumer reads")


MECHANISM = Mechanism(options=Consumers, limits=ConsumedWindows)
