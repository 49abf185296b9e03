"""The values on the timeline that describe rollbacks of failed writes (RFC-22)."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from ...kernel.table import Write

Published = TypeVar("Published")


class Rollback(NamedTuple):
    """A plan of the actor `planner` to undo the write that was requested at `target`.

    `deleted` is the number of files of the write that are deleted, oldest first. `forgotten` is the number of deleted
    files that a later rollback does not delete again. `removed` is the state of the write's instant when the rollback
    removed it from the timeline; '' before the removal.
    """

    requested: int
    target: int
    planner: str
    inflight: bool = False
    deleted: int = 0
    forgotten: int = 0
    removed: str = ""


class RolledBack(NamedTuple):
    """The completed instant of the rollback with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "rollback"


def without_deleted(entry: Published, rollbacks: tuple[Rollback, ...]) -> Published:
    """Return an instant without the files that rollbacks have deleted."""
    if not isinstance(entry, Write):
        return entry
    deleted = max((rollback.deleted for rollback in rollbacks if rollback.target == entry.requested), default=0)
    return entry._replace(files=entry.files[deleted:]) if deleted else entry
