"""Heartbeats, and the rollback of failed writes (RFC-22)."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from ...kernel.table import Write

Published = TypeVar("Published")


class Rollback(NamedTuple):
    """A plan, made by `planner`, to undo the write requested at `target`.

    `deleted`: how many of its files are deleted, oldest first; `forgotten`: how many of them no later rollback deletes.
    `removed`: the state that the write's instant had when it was taken off the timeline, '' while it is there.
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
