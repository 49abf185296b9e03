"""The rules of heartbeats and of the rollback of failed writes (RFC-22)."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from ...kernel.table import Write

Published = TypeVar("Published")


class Rollback(NamedTuple):
    """A plan, made by `planner`, to undo the write requested at `target`.

    `deleted`: the number of its files that are deleted, oldest first. `forgotten`: the number of those that no later
    rollback deletes. `removed`: the state of the write's instant when it was removed from the timeline; '' while it is
    there.
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
