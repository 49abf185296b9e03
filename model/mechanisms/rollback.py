"""Heartbeats, and the rollback of failed writes (RFC-22)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollbacks(Options):
    """Heartbeats, and the rollback of failed writes (RFC-22)."""

    failed_writes: Literal["lazy", "eager"] = choice(
        "lazy",
        "what is rolled back: writes whose heartbeat has expired, or any that is pending",
    )
    rollback_check: Literal["under_lock", "before_lock"] = choice(
        "under_lock",
        "whether a write is chosen for rollback under the lock that covers the plan, or before",
    )
    commit_check: Literal["under_lock", "before_lock", "none"] = choice(
        "under_lock",
        "whether a writer asks, before it publishes, if it was taken for dead: under the lock, or earlier",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures(Limits):
    """Limits: heartbeats, and the rollback of failed writes (RFC-22)."""

    stalls: int = limit(0, "how often a live writer stalls until its heartbeat expires")
    rollbacks: int = limit(0, "how many rollbacks may be planned")


MECHANISM = Mechanism(options=Rollbacks, limits=Failures)
