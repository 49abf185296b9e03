"""Decides which instants a restore undoes: those that completed after the savepoint's instant, and all pending
instants.

By default, a restore selects the instants to undo by completion time. A write that was requested before the savepoint's
instant but completed after it is therefore undone. Once a restore is planned, reads omit the instants that it undoes,
even while their files still exist. Before publishing, a writer checks under the lock whether a restore has undone its
pending write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ...kernel.table import Plan
from ...machine.options import Limits, Options, limit, option
from ...protocol import Protocol
from ..cleaning.rules import taken_files
from ..log_compaction.rules import ADDS_FILES
from ..savepoints import Savepoint


class Restores(Options):
    """The options that decide which instants a restore undoes."""

    restore_by: Literal["completion", "requested"] = option(
        "completion",
        "completion: a restore undoes what completed after the instant of the savepoint. requested: what was requested "
        "after it",
    )
    restore_pending: Literal["undone", "ignored"] = option(
        "undone",
        "undone: a restore undoes pending instants as well. ignored: their actors may still complete them",
    )


class RestoreLimits(Limits):
    """The maximum number of restores in a run."""

    restores: int = limit(0, "how many restores may be planned")


class Restore(NamedTuple):
    """A planned restore; `at` is the time as of which the table is restored.

    `undone` lists the requested times of undone instants in removal order; the first `gone` of them are already
    removed. Readers ignore all undone instants as soon as the restore is planned. `runner` is the actor that runs the
    restore. `saved_writes` contains the writes that the savepoint retains. `plans` lists the undone compaction plans.
    `entries` contains the undone completed instants that readers or consumers may still use.
    """

    requested: int
    at: int
    runner: str
    inflight: bool
    undone: tuple[int, ...]
    saved_writes: tuple[int, ...]
    plans: tuple[Plan, ...] = ()
    gone: int = 0
    entries: tuple[Any, ...] = ()


def is_undone(restores: tuple[Restore, ...], requested: int) -> bool:
    return any(requested in each.undone for each in restores)


class Restored(NamedTuple):
    """The completed instant of a restore; `requested` is the requested time of its plan."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "restore"


def undone_by(
    saved: Savepoint, published: tuple[Any, ...], plans: tuple[Plan, ...], writing: Iterable[int], protocol: Protocol
) -> tuple[int, ...]:
    """Return the requested times of the instants that a restore to a savepoint undoes, in removal order.

    `writing` contains the requested times of pending writes. Pending instants are removed first, then completed
    instants, newest first.
    """
    by_completion = protocol[Restores].restore_by == "completion"

    def is_later(entry: Any) -> bool:
        is_after = entry.completed > saved.at if by_completion else entry.requested > saved.requested
        return has_put_files(entry) and is_after

    later = sorted((e for e in published if is_later(e)), key=lambda e: -e.completed)
    # A plan stays in `plans` after it completes, and then its completed instant decides.
    known = {entry.requested for entry in published if isinstance(entry, ADDS_FILES)}
    pending = [plan.requested for plan in plans if plan.requested not in known]
    pending = sorted((*pending, *writing), reverse=True) if protocol[Restores].restore_pending == "undone" else []
    return (*pending, *(entry.requested for entry in later))


def still_there(published: tuple[Any, ...], undone: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the published instants without the writes and compactions in `undone`."""
    return tuple(entry for entry in published if not (isinstance(entry, ADDS_FILES) and entry.requested in undone))


def taken_off(published: tuple[Any, ...], undone: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the published writes and compactions in `undone`."""
    return tuple(entry for entry in published if isinstance(entry, ADDS_FILES) and entry.requested in undone)


def has_put_files(entry: Any) -> bool:
    """True if a completed instant is a write, a compaction or a log compaction."""
    return isinstance(entry, ADDS_FILES)


def newest_savepoint(savepoints: tuple[Savepoint, ...]) -> Savepoint | None:
    """Return the completed savepoint that pins the newest instant; None if there is none."""
    return max((each for each in savepoints if each.completed), key=lambda each: each.at, default=None)


def is_gone(restores: tuple[Restore, ...], requested: int) -> bool:
    """True if a restore has deleted the files of the instant requested at `requested`."""
    return any(requested in each.undone[: each.gone] for each in restores)


def loses_input(plan: int, group: int, restores: tuple[Restore, ...]) -> bool:
    """True if a restore has deleted an input file of the compaction plan requested at `plan` in the file group `group`.
    """
    for each in restores:
        found = next((known for known in each.plans if known.requested == plan), None)
        # A plan of another restore, or one that takes nothing from this group, loses nothing here.
        part = found.part_in(group) if found else None
        if part and any(file.requested in each.undone[: each.gone] for file in taken_files(part)):
            return True
    return False


def hides(restores: tuple[Restore, ...], time: float) -> Restore | None:
    """Return a restore that undid writes needed by a read as of `time`; None if there is none."""
    return next((each for each in restores if each.at < time < each.requested), None)
