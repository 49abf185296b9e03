"""Restores: a restore undoes what completed after the instant that a savepoint pins, and every pending instant.

By the completion axis, on which the savepoint was made: a write that was requested before it and completed later is not
in it, and a write that was requested later cannot be in it. From the plan of the restore on no read shows what it
undoes, whether or not it is deleted already. A pending writer checks that under the lock, before it publishes.
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
    """A planned restore to the state as of `at`. Once it is planned, no reader sees the instants `undone`.

    `undone`: requested times, in the order in which the restore removes them; the first `gone` of them are removed.
    `runner`: the actor that runs it. `kept`: the writes of the savepoint. `plans`: the undone compaction plans.
    `entries`: the undone completed instants, in worlds in which a reader or consumer may still use them.
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
    """Whether a restore has undone the instant requested then."""
    return any(requested in each.undone for each in restores)


class Restored(NamedTuple):
    """A published completion of the restore with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "restore"


def undone_by(
    saved: Savepoint, published: tuple[Any, ...], plans: tuple[Plan, ...], writing: Iterable[int], protocol: Protocol
) -> tuple[int, ...]:
    """The requested times of what a restore to a savepoint undoes, in the order in which it goes.

    `writing`: those of pending writes. Pending instants go first, then the newest completion.
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
    """The published instants without those that a restore undoes."""
    return tuple(entry for entry in published if not (isinstance(entry, WRITES) and entry.requested in undone))


def taken_off(published: tuple[Any, ...], undone: tuple[int, ...]) -> tuple[Any, ...]:
    """The published instants that a restore undoes; running reads may still use them."""
    return tuple(entry for entry in published if isinstance(entry, WRITES) and entry.requested in undone)


def has_put_files(entry: Any) -> bool:
    """Whether a completed instant has put data files: log compactions, too, whose logs may hold what goes."""
    return isinstance(entry, WRITES)


def newest(savepoints: tuple[Savepoint, ...]) -> Savepoint | None:
    """The completed savepoint of the newest instant."""
    return max((each for each in savepoints if each.completed), key=lambda each: each.at, default=None)


def is_gone(restores: tuple[Restore, ...], requested: int) -> bool:
    """Whether a restore has deleted what the instant requested then had put."""
    return any(requested in each.undone[: each.gone] for each in restores)


def loses_input(plan: int, group: int, restores: tuple[Restore, ...]) -> bool:
    """Whether a restore has deleted a file that the plan takes in a file group."""
    for each in restores:
        found = next((known for known in each.plans if known.requested == plan), None)
        part = found.part_in(group) if found else None
        if part and any(file.requested in each.undone[: each.gone] for file in taken_files(part)):
            return True
    return False


def hides(restores: tuple[Restore, ...], time: float) -> Restore | None:
    """The restore that has undone what a read as of `time` would see."""
    return next((each for each in restores if each.at < time < each.requested), None)
