"""Determines how far back a table can be read after cleaning, archiving and restores."""

from __future__ import annotations

from ..context import Context
from ..errors import Cleaned, Unsupported
from ..timeline import Archive, Instant, completion_of
from ..timeline.container import decode_record
from ..timeline.history import Whole


def refuse_cleaned(context: Context, timeline: Whole, time: str, asked: str, *, pinned: bool = False) -> None:
    """Raise `Cleaned` if a read as of `time` may need files that cleaning has deleted. If `pinned` is True, a time is
    also accepted if a savepoint retains the table's state at that time.
    """
    bound = horizon(context, timeline)
    if bound is not None and time < bound and not (pinned and timeline.is_pinned(time)):
        raise cleaned(time, bound, asked)


def cleaned(time: str, bound: str, asked: str) -> Cleaned:
    """Return the error of a read as of `time`, which is before the horizon `bound`."""
    return Cleaned(f"{asked} {time}", f"cleaning has removed files from before {bound}", f"use {bound} or later")


def refuse_undone(timeline: Whole, time: str, asked: str) -> None:
    """Raise `Cleaned` if a restore has undone writes that a read as of `time` needs: `time` is after the completion of
    the savepoint's instant and before the restore's request.
    """
    for plan in timeline.restores:
        saved = timeline.find(plan.savepoint)
        since = saved.completed if saved is not None else None
        if since is not None and since < time < plan.requested:
            # `Cleaned` also after a restore: the contract has one class for times that can no longer be read
            # (docs/contract.md, ANSWER).
            raise Cleaned(
                f"{asked} {time}",
                f"the restore {plan.requested} has undone what completed after {since}",
                f"use {since} or earlier, or {plan.requested} or later",
            )


def horizon(context: Context, timeline: Whole) -> str | None:
    """Return the horizon: the completion time before which reads are refused because of cleaning; None if no clean has
    deleted files.

    Each clean plan of nbcc records the horizon that results from the clean. A clean by Hudi records the earliest
    instant to retain (`earliestCommitToRetain`). In each file group, Hudi's clean keeps the newest slice older than the
    earliest retained instant, and all newer slices. The horizon must be at or after the completion of every write that
    was requested before the earliest retained instant.
    """
    ours = context.commits.horizon(timeline)
    cleans = [i for i in timeline.cleans if i.completed and not context.commits.clean_summary(i.requested).horizon]
    retained = [kept for clean in cleans if (kept := _earliest_retained(context, clean)) is not None]
    if not retained:
        return ours
    earliest = max(retained)
    older = (completion_of(i) for i in timeline.completed if i.writes and i.requested < earliest)
    return max((ours or "", earliest, *older))


def _earliest_retained(context: Context, clean: Instant) -> str | None:
    """Return a clean's `earliestCommitToRetain`, or its requested time if the property is missing; None if nothing was
    deleted.
    """
    record = decode_record(context.commits.content(clean), clean.file_name)
    if not record.get("totalFilesDeleted"):
        return None
    return record.get("earliestCommitToRetain") or clean.requested


def archived_completions(context: Context, timeline: Whole) -> list[str]:
    """Return the completion times of the archived writes, in ascending order."""
    return Archive(context.storage).completions() if timeline.lacks_archived else []


def refuse_archived_window(context: Context, timeline: Whole, after: str, asked: str) -> None:
    """Raise `Unsupported` if writes that completed after `after` may have been archived already."""
    archived = archived_completions(context, timeline)
    if archived and after < archived[-1]:
        raise Unsupported(
            f"{asked} after {after}",
            f"writes that completed until {archived[-1]} are archived, where this release reads no windows",
            f"start at {archived[-1]} or later, from a snapshot as of then",
        )
