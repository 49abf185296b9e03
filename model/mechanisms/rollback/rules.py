"""Defines planned and completed rollbacks of failed writes (RFC-22)."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from ...kernel.table import Write

Published = TypeVar("Published")


class Rollback(NamedTuple):
    """A rollback, planned by the actor `planner`, of the write with the requested time `target`.

    `deleted` is the number of the write's files deleted so far; the oldest file is deleted first. `forgotten` is the
    number of files that a later rollback of the same write skips, because they are already deleted. `removed` is the
    state (requested or inflight) in which the write's instant was removed from the timeline; '' before the removal.
    """

    requested: int
    target: int
    planner: str
    inflight: bool = False
    deleted: int = 0
    forgotten: int = 0
    removed: str = ""


class RolledBack(NamedTuple):
    """The completed instant of a rollback; `requested` is the requested time of its plan."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "rollback"


def without_deleted(entry: Published, rollbacks: tuple[Rollback, ...]) -> Published:
    """Return an instant without the files deleted by rollbacks."""
    if not isinstance(entry, Write):
        return entry
    deleted = max((rollback.deleted for rollback in rollbacks if rollback.target == entry.requested), default=0)
    return entry._replace(files=entry.files[deleted:]) if deleted else entry
