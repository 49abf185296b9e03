"""The options and limits of rollbacks."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class Rollbacks(Options):
    """The options of rollbacks: which pending writes are rolled back, and which checks happen under the lock."""

    failed_writes: Literal["lazy", "eager"] = option(
        "lazy",
        "which pending writes a rollbacker rolls back. lazy: those whose heartbeat has expired; eager: every one",
    )
    rollback_check: Literal["under_lock", "before_lock"] = option(
        "under_lock",
        "when a rollbacker chooses a failed write: under the lock that covers its plan, or before it takes that lock",
    )
    commit_check: Literal["under_lock", "before_lock", "none"] = option(
        "under_lock",
        "when a writer checks its heartbeat before it publishes: under the lock, before it takes the lock, or never",
    )


class Failures(Limits):
    """The maximum number of rollbacks, and of stalls during which a live writer's heartbeat expires."""

    stalls: int = limit(0, "how often a live writer stalls until its heartbeat expires",
                        in_random_worlds=(1, 2), needs="rollbacker")  # fmt: skip
    rollbacks: int = limit(0, "how many rollbacks may be planned", in_random_worlds=(1, 2), needs="rollbacker")
