"""Crashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class LockExpiry(Options):
    """Crashes."""

    lock_expiry: Literal["expires", "never"] = choice(
        "expires",
        "whether the lock of a dead holder is free again one day",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashes(Limits):
    """Limits: crashes."""

    crashes: int = limit(0, "how many actors may crash")


MECHANISM = Mechanism(options=LockExpiry, limits=Crashes)
