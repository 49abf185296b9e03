"""How far back a table can be read: what cleaning has left, and what archiving has put out of a reader's sight."""

from __future__ import annotations

from ..context import Context
from ..errors import Cleaned, Unsupported
from ..timeline import Archive, Instant, Timeline, completion_of
from ..timeline.container import decode_record


def refuse_cleaned(context: Context, timeline: Timeline, time: str, asked: str, *, pinned: bool = False) -> None:
    """`Cleaned` if a read as of `time` may need files that cleaning has deleted; `pinned`: unless a savepoint keeps
    them."""
    bound = horizon(context, timeline)
    if bound is not None and time < bound and not (pinned and timeline.is_pinned(time)):
        raise Cleaned(f"{asked} {time}", f"cleaning has removed files from before {bound}", f"use {bound} or later")


def refuse_undone(timeline: Timeline, time: str, asked: str) -> None:
    """`Cleaned` if a restore has undone what was to be seen at `time`. `timeline`: with what is archived."""
    for plan in timeline.restores:
        saved = timeline.find(plan.savepoint)
        since = saved.completed if saved is not None else None
        if since is not None and since < time < plan.requested:
            raise Cleaned(
                f"{asked} {time}",
                f"the restore {plan.requested} has undone what completed after {since}",
                f"use {since} or earlier, or {plan.requested} or later",
            )


def horizon(context: Context, timeline: Timeline) -> str | None:
    """The completion time behind which reads are not answered any more; None if nothing was cleaned.

    A clean of ours has said so when it was planned. One of Hudi keeps, in each group, the newest slice that is older
    than the earliest instant E that it retains, and all after it (docs/hudi-format.md). E is a requested time: only
    once everything requested before it has completed, too, is that slice the one that a read uses.
    """
    ours = context.commits.horizon(timeline)
    cleans = [i for i in timeline.completed if i.action == "clean" and not context.commits.clean(i.requested).horizon]
    retained = [kept for clean in cleans if (kept := _earliest_retained(context, clean)) is not None]
    if not retained:
        return ours
    earliest = max(retained)
    older = (completion_of(i) for i in timeline.completed if i.writes and i.requested < earliest)
    return max((ours or "", earliest, *older))


def _earliest_retained(context: Context, clean: Instant) -> str | None:
    """The earliest instant that a clean retains, or its own if it keeps newest slices; None if it deleted nothing."""
    record = decode_record(context.commits.content(clean), clean.file_name)
    if not record.get("totalFilesDeleted"):
        return None
    return record.get("earliestCommitToRetain") or clean.requested


def archived_completions(context: Context, timeline: Timeline) -> list[str]:
    """When the writes completed that have left the active timeline, in order."""
    return Archive(context.storage).completions() if timeline.archived else []


def refuse_unlisted(context: Context, timeline: Timeline, asked: str) -> None:
    """`Unsupported` if files of our table are listed by commits that an archiver has taken off the active timeline."""
    if context.rules.files == "listed" and timeline.archived:
        raise Unsupported(
            asked,
            "another engine has archived commits of this table, which this release does not look into",
            "read it with that engine, and turn archiving off (hoodie.archive.automatic=false)",
        )


def refuse_archived_window(context: Context, timeline: Timeline, after: str, asked: str) -> None:
    """`Unsupported` if writes of a window that starts at `after` may be archived."""
    archived = archived_completions(context, timeline)
    if archived and after < archived[-1]:
        raise Unsupported(
            f"{asked} after {after}",
            f"writes that completed until {archived[-1]} are archived, where this release reads no windows",
            f"start at {archived[-1]} or later, from a snapshot as of then",
        )
