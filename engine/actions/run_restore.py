"""Runs a planned restore: for each undone instant, newest first, deletes the data files and then the timeline files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from ..config import TableConfig
from ..context import Context
from ..errors import Cleaned
from ..file_names import marker, split_path
from ..files.group_files import is_change_log, listed_file
from ..reads.times import Time
from ..services.resume import completed, resumed
from ..timeline import Instant, WriteStat, put_inflight
from ..timeline.announcements import Announced, forget_announcements
from ..timeline.history import Active
from ..timeline.instant import PENDING
from ..timeline.restores import ACTION, encode_restore, load_restore_plan
from ..timeline.timeline import FOLDER
from ..writes.attempts import marked_files
from ..writes.decision_log import announces


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Undo the instants listed in a restore plan. Any process may run a pending plan, even after an earlier run was
    interrupted.

    An undone instant is deleted after its data files, because a process that resumes the restore finds the remaining
    data files through the instant. `instant` is the restore or its requested time (default: the oldest pending
    restore). Returns the completed restore, even if another process completed the restore; None if no restore is
    pending.
    """
    config.check_writable()
    read = partial(load_restore_plan, context.storage)
    timeline, found, plan = resumed(context, ACTION, instant, read)
    if found is None or plan is None:
        return found
    requested, begun = found.requested, time.monotonic_ns()
    put_inflight(context.storage, requested, ACTION, again=True)
    left = {each.requested: each for each in timeline.undone if each.writes}
    deleted = {}
    for undone, action in plan.undone:  # also of those that are gone: their writers may have slept, and put something
        deleted[undone] = _undo(context, timeline, left.get(undone) or Instant(undone, action, "requested"))
    millis = (time.monotonic_ns() - begun) // 1_000_000
    return completed(context, ACTION, requested, encode_restore(plan, deleted, context.storage.url, millis))


def _undo(context: Context, timeline: Active, instant: Instant) -> list[str]:
    """Delete the data files of an instant, then its timeline files. Returns the paths of the deleted data files."""
    marked = marked_files(context, instant.requested)
    stats: Sequence[WriteStat] = ()
    if instant.completed:
        with suppress(Cleaned):  # another runner has undone the instant, and deletes an instant after its files
            stats = context.commits.commit(instant).stats
    listed = [stat.path for stat in stats if listed_file(stat, instant) or is_change_log(stat)]
    files = sorted({*marked, *listed})
    if files:
        context.storage.delete_all(files)
    actions = {instant.action, timeline.begun_as.get(instant.key, instant.action)}
    states = (Instant(instant.requested, action, state) for action in sorted(actions) for state in PENDING)
    saved = (each for each in timeline.undone if each.requested == instant.requested)
    last = dict.fromkeys((*states, *saved, instant))  # what it has put is found by its completed file, which goes last
    markers = (marker(instant.requested, *split_path(path)) for path in marked)
    context.storage.delete_all([*(f"{FOLDER}/{each.file_name}" for each in last), *markers])
    if announces(context):
        every = ((action, is_checked) for action in actions for is_checked in (False, True))
        names = [Announced(instant.requested, action, is_checked=is_checked) for action, is_checked in every]
        forget_announcements(context.storage, names)
    context.heartbeats.stop(instant.requested)
    return files
