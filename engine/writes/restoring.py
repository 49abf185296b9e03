"""Selects the instants that a restore undoes: all pending instants, and those that completed after the savepoint's
instant.

A restore selects instants by completion time, because a savepoint retains the table's state as of a completion time. A
restore by Apache Hudi before 1.1 does not undo a write that was requested before the savepoint but completed after it
(HUDI-9667).
"""

from __future__ import annotations

from ..context import Context
from ..errors import BadInput
from ..timeline import Instant, Timeline, completion_of
from ..timeline.history import Active
from ..timeline.restores import RestorePlan


def plan_restore(context: Context, timeline: Active, saved: Instant, requested: str) -> RestorePlan:
    """Build the plan of a restore to the savepoint `saved`: pending instants first, then completed instants, newest
    first. The caller of `plan_restore` holds the table's lock, or creates the entry after the one whose instants
    `timeline` shows: it has the requested time of that entry, and nothing is decided in between.
    """
    pinned = pinned_by(timeline, saved)
    by_completion = context.rules.restore_by == "completion"

    def is_later(instant: Instant) -> bool:
        if by_completion:
            return completion_of(instant) > completion_of(pinned)
        return instant.requested > pinned.requested

    pending = [i for i in timeline.pending if i.writes] if context.rules.restore_pending == "undone" else []
    done = [i for i in timeline.completed if i.writes and is_later(i)]
    order = (*reversed(pending), *reversed(done))
    return RestorePlan(requested, saved.requested, tuple((i.requested, i.action) for i in order))


def pinned_by(timeline: Active, saved: Instant) -> Instant:
    """Return the completed instant that was savepointed."""
    found = timeline.find(saved.requested)
    if found is None or not found.completed:
        raise BadInput(
            f"restore the savepoint {saved.requested}",
            "the active timeline has no completed instant with that requested time",
            "restore another savepoint",
        )
    return found


def refuse_newer(timeline: Active, saved: Instant) -> None:
    """Raise `BadInput` if a newer savepoint retains an instant that the restore would undo."""
    since = completion_of(pinned_by(timeline, saved))
    newer = [each for each in timeline.savepoints if completion_of(pinned_by(timeline, each)) > since]
    if newer:
        raise BadInput(
            f"restore the savepoint {saved.requested}",
            f"newer states are pinned as well: {', '.join(each.requested for each in newer)}",
            "drop those savepoints first, if what they pin may go",
        )


def is_kept(context: Context, timeline: Timeline, saved: Instant) -> bool:
    """Return whether the files of a savepoint exist. An author that has stood still may put a savepoint again that was
    deleted; the newest clean then has passed the savepoint, and does not name it.
    """
    pinned, clean = timeline.find(saved.requested), max(timeline.cleans, key=lambda each: each.requested, default=None)
    if pinned is None or clean is None:
        return True
    summary = context.commits.clean_summary(clean.requested)
    return completion_of(pinned) >= (summary.horizon or "") or saved.requested in summary.savepoints


def refuse_lost(context: Context, timeline: Timeline, saved: Instant) -> None:
    """Raise `BadInput` if a clean has deleted the files of a savepoint."""
    if not is_kept(context, timeline, saved):
        exists = "it was deleted before a clean, and an author that had stood still has put it again"
        raise BadInput(f"restore the savepoint {saved.requested}", exists, "drop it, and restore another one")
