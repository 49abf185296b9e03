"""Creates a state checkpoint: a list of the files that a snapshot as of the newest settled time reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from ..context import Context
from ..files.group_files import BaseFile, LogFile
from ..files.slices import all_slices, to_read
from ..reads.checkpointed import cleaned_by_others
from ..reads.retention import horizon
from ..reads.travel import list_again, list_once, newest_time
from ..timeline import CommitMetadata, Instant, completion_of, encode_commit
from ..timeline.archive_files import Archived
from ..timeline.history import Whole
from ..timeline.metadata import COVERS, OWN_KEY
from ..timeline.state_checkpoint import StateCheckpoint
from .cleaning import planned_inputs

_NEEDED: Final = frozenset({OWN_KEY, COVERS})
"""The extra metadata that a snapshot and a read as of a time use. Windows do not read state checkpoints."""


class Listed(NamedTuple):
    """The instants completed at or before `time`, found by listing the timeline twice. `archived` is the greatest
    requested time that the archive contained after the first listing. All archived writes requested at or before
    `archived` had completed by `time`. `active` contains the writes requested later that had completed by `time`.
    """

    timeline: Whole
    time: str
    archived: str
    active: frozenset[Instant]


def list_twice(context: Context) -> Listed:
    """List the timeline twice, and return the instants that had completed by the greatest completion time in the first
    listing.
    """
    listed = list_once(context)
    # Before the second listing reads a newer manifest: `archived` has to be of the first one.
    archived, time = context.commits.archive.newest(), newest_time(context, listed)
    timeline = list_again(context, listed, time).until(time)
    active = frozenset(i for i in timeline.completed if i.writes and i.requested > archived)
    return Listed(timeline, time, archived, active)


def state_checkpoint(context: Context, listed: Listed) -> StateCheckpoint | None:
    """Return a state checkpoint; None if the table has no write, or if another engine has cleaned the table.

    A state checkpoint contains no pending instants. Readers take pending instants, and instants newer than the
    checkpoint, from the timeline. The inputs of a pending log compaction are listed even if a replacing write has
    hidden them, because they determine the place of the new log. Active writes without live files are rows as well, so
    that a reader sees whether the checkpoint fits the timeline.
    """
    timeline = listed.timeline
    writes = [instant for instant in timeline.completed if instant.writes]
    if not writes or cleaned_by_others(context, timeline):
        return None
    live = frozenset(file.path for file in _live_files(context, timeline)) | planned_inputs(context, timeline)
    rows = []
    for instant in writes:
        commit = _with_files(context.commits.commit(instant), live)
        is_needed = commit.stats or commit.replaced or instant is writes[-1]
        if is_needed or instant in listed.active:
            content = encode_commit(commit) if is_needed else None
            rows.append(Archived(instant.requested, completion_of(instant), instant.action, content, None))
    return StateCheckpoint(listed.time, listed.archived, horizon(context, timeline) or "", tuple(rows))


def _live_files(context: Context, timeline: Whole) -> Iterator[BaseFile | LogFile]:
    """Yield the files of the slices that a snapshot reads. The input logs of log compactions are included, because they
    determine the merge order.
    """
    slices = all_slices(context.storage, timeline, context.commits, context.rules)
    for piece in to_read(slices, context.rules):
        if piece.base:
            yield piece.base
        for log in (*piece.tombstones, *piece.logs):
            yield from log.files


def _with_files(commit: CommitMetadata, paths: frozenset[str]) -> CommitMetadata:
    extra = {key: value for key, value in commit.extra.items() if key in _NEEDED}
    return replace(commit, stats=tuple(stat for stat in commit.stats if stat.path in paths), extra=extra)
