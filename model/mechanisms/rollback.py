"""Heartbeats, and the rollback of failed writes (RFC-22)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from ..kernel.table import Write
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit

Published = TypeVar("Published")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollbacks(Options):
    """Heartbeats, and the rollback of failed writes (RFC-22)."""

    failed_writes: Literal["lazy", "eager"] = choice(
        "lazy",
        "The writes that are rolled back: those whose heartbeat has expired, or every pending one.",
    )
    rollback_check: Literal["under_lock", "before_lock"] = choice(
        "under_lock",
        "Whether a rollbacker chooses the write under the lock that covers its plan, or before it takes that lock.",
    )
    commit_check: Literal["under_lock", "before_lock", "none"] = choice(
        "under_lock",
        "When a writer checks, before it publishes, that its heartbeat has not expired: under the lock; before it; or "
        "never.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures(Limits):
    """Limits: heartbeats, and the rollback of failed writes (RFC-22)."""

    stalls: int = limit(0, "how often a live writer stalls until its heartbeat expires")
    rollbacks: int = limit(0, "how many rollbacks may be planned")


class Rollback(NamedTuple):
    """A plan, made by `planner`, to undo the write requested at `target`.

    `deleted`: how many of its files are deleted, in the order in which they were put; `forgotten`: how many of these no
    rollbacker checks again. `removed`: the state of the write's instant when it was taken off the timeline, or ''.
    """

    requested: int
    target: int
    planner: str
    inflight: bool = False
    deleted: int = 0
    forgotten: int = 0
    removed: str = ""


class RolledBack(NamedTuple):
    """A published completion of the rollback with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "rollback"


def without_deleted(entry: Published, rollbacks: tuple[Rollback, ...]) -> Published:
    """A published instant without the files that rollbacks have deleted."""
    if not isinstance(entry, Write):
        return entry
    deleted = max((rollback.deleted for rollback in rollbacks if rollback.target == entry.requested), default=0)
    return entry._replace(files=entry.files[deleted:]) if deleted else entry


MECHANISM = Mechanism(options=Rollbacks, limits=Failures)
