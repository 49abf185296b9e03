"""The rules of restores: a restore undoes the instants that completed after the pinned instant, and every pending
instant.

A restore compares completion times, not requested times. Therefore a restore undoes a write that was requested before
the pinned instant but completed after it. As soon as a restore is planned, no read shows the undone instants, whether
or not their files have been deleted. A pending writer checks under the lock, before it publishes, whether a restore has
undone its write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...kernel.table import Plan
from ...protocol import Protocol
from ..cleaning.rules import taken_files
from ..log_compaction.rules import WRITES
from ..savepoints import Savepoint
from .options import Restores


class Restore(NamedTuple):
    """A planned restore to the state as of `at`. Once a restore is planned, no reader sees the instants `undone`.

    `undone` lists requested times of instants in removal order; the first `gone` of them are already removed. `runner`
    is the actor that runs the restore. `kept` lists the writes of the savepoint. `plans` lists the undone compaction
    plans. `entries` lists the undone completed instants, in worlds in which a reader or consumer may still use them.
    """

    requested: int
    at: int
    runner: str
    inflight: bool
    undone: tuple[int, ...]
    kept: tuple[int, ...]
    plans: tuple[Plan, ...] = ()
    gone: int = 0
    entries: tuple[Any, ...] = ()


def is_undone(restores: tuple[Restore, ...], requested: int) -> bool:
    """True if a restore has undone the instant with this requested time."""
    return any(requested in each.undone for each in restores)


class Restored(NamedTuple):
    """The completed instant of the restore with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "restore"


def undone_by(
    saved: Savepoint, published: tuple[Any, ...], plans: tuple[Plan, ...], writing: Iterable[int], protocol: Protocol
) -> tuple[int, ...]:
    """The requested times of the instants that a restore to a savepoint undoes, in removal order.

    `writing` contains the requested times of pending writes. A restore removes pending instants first, and then
    completed instants, newest first.
    """
    by_completion = protocol[Restores].restore_by == "completion"

    def is_later(entry: Any) -> bool:
        later = entry.completed > saved.at if by_completion else entry.requested > saved.requested
        return has_put_files(entry) and later

    done = sorted((e for e in published if is_later(e)), key=lambda e: -e.completed)
    known = {entry.requested for entry in published if isinstance(entry, WRITES)}
    pending = [plan.requested for plan in plans if plan.requested not in known]
    pending = sorted((*pending, *writing), reverse=True) if protocol[Restores].restore_pending == "undone" else []
    return (*pending, *(entry.requested for entry in done))


def still_there(published: tuple[Any, ...], undone: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the published instants that a restore does not undo."""
    return tuple(entry for entry in published if not (isinstance(entry, WRITES) and entry.requested in undone))


def taken_off(published: tuple[Any, ...], undone: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the published instants that a restore undoes. Running reads may still use the undone instants."""
    return tuple(entry for entry in published if isinstance(entry, WRITES) and entry.requested in undone)


def has_put_files(entry: Any) -> bool:
    """True if a completed instant has put data files. Log compactions count, because their logs may contain undone
    rows.
    """
    return isinstance(entry, WRITES)


def newest(savepoints: tuple[Savepoint, ...]) -> Savepoint | None:
    """Return the completed savepoint that pins the newest instant."""
    return max((each for each in savepoints if each.completed), key=lambda each: each.at, default=None)


def is_gone(restores: tuple[Restore, ...], requested: int) -> bool:
    """True if a restore has deleted the files of the instant with this requested time."""
    return any(requested in each.undone[: each.gone] for each in restores)


def loses_input(plan: int, group: int, restores: tuple[Restore, ...]) -> bool:
    """True if a restore has deleted a file that the plan takes in a file group."""
    for each in restores:
        found = next((known for known in each.plans if known.requested == plan), None)
        part = found.part_in(group) if found else None
        if part and any(file.requested in each.undone[: each.gone] for file in taken_files(part)):
            return True
    return False


def hides(restores: tuple[Restore, ...], time: float) -> Restore | None:
    """Return the restore that undoes writes that a read as of `time` would show; None if there is no such restore."""
    return next((each for each in restores if each.at < time < each.requested), None)
