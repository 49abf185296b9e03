"""Locks that are lost while their holder lives, and a store that fences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Fencing(Options):
    """Locks that are lost while their holder lives, and a store that fences."""

    fencing: Literal["none", "storage"] = choice(
        "none",
        "a store takes every put; or refuses one whose lock was taken before that of a put it has seen",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LostLocks(Limits):
    """Limits: locks that are lost while their holder lives, and a store that fences."""

    lock_losses: int = limit(0, "how often the lock of a live holder is lost (fault set F1)")


MECHANISM = Mechanism(options=Fencing, limits=LostLocks)
