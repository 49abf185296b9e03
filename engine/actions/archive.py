"""Move old instants from the active timeline into the archive."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..reads.retention import refuse_unlisted
from ..services.archiving import RETAINED, archivable, pending_files, refuse_different, refuse_retained, to_archived
from ..timeline import Instant, Timeline, load, lsm
from ..timeline.timeline import FOLDER
from ..writes.claims import forget
from ..writes.decision_log import cut, latest_decision

MOST = 1_000
"""The most instants that are archived under one hold of the lock, which blocks writers from publishing."""


def run(context: Context, config: TableConfig, retained: int = RETAINED) -> tuple[Instant, ...]:
    """Archive the oldest instants that may be archived, and return them ordered by requested time. At least the newest
    `retained` writes stay active.

    The operation writes the archive's manifest first; then it deletes the originals, oldest first. Because the manifest
    is written first, each completed instant is always on the active timeline or in the archive. If a crash during
    archiving left instants in both timelines, they are deleted from the active timeline first. Under the lock, an
    instant's pending files are deleted before its completed file, so that no lock holder mistakes it for pending.
    Raises `BadInput` unless `retained` is a positive number.
    """
    config.check_writable()
    refuse_retained(retained)
    gone: list[Instant] = []
    while True:
        chosen = _archive_some(context, retained)
        for instant in chosen:
            context.storage.delete(f"{FOLDER}/{instant.file_name}")
        gone += chosen
        if len(chosen) < MOST:
            break
    _keep_tree(context)
    return tuple(gone)


def _archive_some(context: Context, retained: int) -> tuple[Instant, ...]:
    """Add the next instants to the archive, and delete the timeline files of their pending states."""
    with held(context.lock):
        last = latest_decision(context)
        timeline = load(context.storage)
        whole = context.whole(timeline)
        refuse_unlisted(context, whole, "archive the timeline")
        forget(context, timeline)
        cut(context, last)
        chosen = left_behind(context, timeline)
        if not chosen:
            chosen = archivable(context, timeline, whole, retained, last)[:MOST]
            if not chosen:
                return ()
            rows = [to_archived(context, timeline, instant) for instant in chosen]
            lsm.add(context.storage, context.commits.archive, rows)
        context.storage.delete_all([f"{FOLDER}/{name}" for name in pending_files(timeline, chosen)])
    return chosen


def left_behind(context: Context, timeline: Timeline) -> tuple[Instant, ...]:
    """Return the active timeline's instants that are also in the archive. Raises `Damaged` if the archive has different
    content for one of these instants.
    """
    archived = {each.instant: each for each in context.commits.archive.instants()}
    left = tuple(instant for instant in timeline.instants if instant in archived)
    refuse_different(context, (archived[instant] for instant in left))
    return left


def _keep_tree(context: Context) -> None:
    """Merge the full levels of the archive, and delete archive files that no reader needs."""
    archive = context.commits.archive
    if max((len(files) for files in lsm.levels(archive).values()), default=0) < lsm.LEVEL_FILES:
        return
    with held(context.lock):
        archive.refresh()
        while lsm.merge_levels(context.storage, archive):
            pass
        lsm.drop_superfluous(context.storage, archive)
