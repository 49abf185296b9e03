"""Moves old instants from the active timeline to the archived timeline.

The operation writes the archive's manifest before it deletes the archived instants from the active timeline, oldest
first. A completed instant is therefore always present on the active timeline or in the archive. If a crash has left an
instant in both timelines, the operation first deletes the instant from the active timeline. An instant's requested and
inflight files are deleted first, under the lock. The completed file is deleted last, so a lock holder never sees the
instant as pending.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..services.archiving import RETAINED, archivable, pending_files, refuse_different, refuse_retained, to_archived
from ..services.plan import current_slices
from ..services.retirement import retire_unneeded
from ..timeline import Instant, lsm
from ..timeline.commits import late_states
from ..timeline.history import Active
from ..timeline.restores import ACTION as RESTORE
from ..timeline.timeline import FOLDER
from ..writes.claims import forget, requests_without_lock
from ..writes.decided_plans import history_of, latest_decision
from ..writes.deciding import carry_floor
from ..writes.decision_log import cut, decides_without_lock, in_order
from ..writes.unlocked_request import raise_floor

MOST = 1_000
"""The most instants that are archived at once. Under the lock, that blocks writers from publishing."""


def run(context: Context, config: TableConfig, retained: int = RETAINED) -> tuple[Instant, ...]:
    """Move the oldest completed instants to the archive, so that listing the active timeline stays fast.

    Archiving changes no query result. The newest `retained` writes, writes with uncompacted logs, and all instants
    since the oldest pending instant or savepoint remain on the active timeline. Returns the archived instants.
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
    with in_order(context):
        last = latest_decision(context)
        timeline = context.active()
        history = history_of(context, last, timeline)
        forget(context, timeline)
        cut(context, last)
        drop_undone(context, timeline)
        # Leftovers of an archiver that died come first: archiving them again would list them twice.
        chosen = left_behind(context, timeline)
        if not chosen:
            slices = retire_unneeded(context, history.current, context.rules)
            chosen = archivable(context, history, slices, retained, last)[:MOST]
            if not chosen:
                return ()
            manifest = lsm.current_manifest(context.commits.archive)
            if requests_without_lock(context):
                floor = raise_floor(context, chosen)
                if decides_without_lock(context):
                    last = carry_floor(context, floor)
                # The second look, after the floor is raised: a request that was put in between and is below the floor
                # shows now.
                timeline = context.active()
                history = history_of(context, last, timeline)
                slices = current_slices(context, history.current, context.rules)
                chosen = archivable(context, history, slices, retained, last, floor)[:MOST]
            rows = [to_archived(context, timeline, instant) for instant in chosen]
            alone = not decides_without_lock(context)
            count = lsm.add(context.storage, context.commits.archive, rows, manifest, alone=alone)
            chosen = chosen[:count]
        context.storage.delete_all([f"{FOLDER}/{name}" for name in pending_files(timeline, chosen)])
    return chosen


def left_behind(context: Context, timeline: Active) -> tuple[Instant, ...]:
    """Return the instants that are both on the active timeline and in the archive, because an archiver crashed or a
    stalled actor put a state of the instant late. Raises `Damaged` if the archived content of an instant differs from
    the active content.
    """
    archive = context.commits.archive
    archived = archive.archived()  # reads every archive file
    rows = [row for instant in timeline.instants if (row := archive.row(instant)) and row.instant == instant]
    refuse_different(context, rows)
    late = late_states(timeline, archived)
    return (*(row.instant for row in rows), *late.values())


def drop_undone(context: Context, timeline: Active) -> None:
    """Delete the timeline files of instants that a completed restore has undone. The restore has deleted them, so that
    a file that is there was put late by a stalled actor.
    """
    done = {instant.requested for instant in timeline.completed if instant.action == RESTORE}
    undone = {requested for plan in timeline.restores if plan.requested in done for requested, _ in plan.undone}
    late = [instant for instant in timeline.undone if instant.requested in undone]
    names = [*(instant.file_name for instant in late), *pending_files(timeline, late)]
    if names:
        context.storage.delete_all([f"{FOLDER}/{name}" for name in names])


def _keep_tree(context: Context) -> None:
    """Merge the full LSM-tree levels of the archive, and delete archive files that no reader needs."""
    archive = context.commits.archive
    # Asked without the lock, because most calls have nothing to merge.
    if not lsm.files_to_merge(archive):
        return
    alone = not decides_without_lock(context)
    with in_order(context):
        # Another archiver may have merged the files since the question above.
        archive.refresh()
        while lsm.merge_levels(context.storage, archive, alone=alone):
            pass
        lsm.drop_superfluous(context.storage, archive, alone=alone)
