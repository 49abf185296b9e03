"""Optimistic concurrency control: detects completed writes that conflict with a write about to be published (RFC-22,
step 4).

Two writes conflict if both have put files into one bucket of one partition. File ids are not compared, because a writer
that finds no file in a bucket may start another file group for it. A compaction does not conflict with a writer,
because the writer's log belongs to the slice in which it completes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..config import TableConfig
from ..config.concurrency import OPTIMISTIC
from ..context import Context
from ..data.tasks import WrittenFile
from ..errors import Conflict
from ..names import bucket_of
from ..timeline import Instant, Timeline, load

Bucket = tuple[str, int | None]
"""(partition, bucket)."""


@dataclass(frozen=True, slots=True)
class ReadSet:
    """The partitions that a write has read to compute its rows.

    `partitions` contains the paths of the partitions that were read; None means the whole table. If `partitions` is
        empty, nothing was read.
    `as_of` is the completion time of the state from which the write read its partitions. If `as_of` is None, the write
        read the partitions when it began.
    """

    partitions: Collection[str] | None = ()
    as_of: str | None = None

    def covers(self, partition: str) -> bool:
        """Return whether the write has read this partition."""
        return self.partitions is None or partition in self.partitions


NO_READS: Final = ReadSet()
"""A write that has read nothing."""


def conflict_of(
    context: Context,
    config: TableConfig,
    requested: str,
    files: Sequence[WrittenFile],
    *,
    sealed: Timeline,
    now: Timeline | None = None,
    read_set: ReadSet = NO_READS,
) -> Conflict | None:
    """Return the `Conflict` that forbids publishing `files`, or None if there is no conflict.

    A write conflicts if it completed after `sealed` was loaded, and has files in the same buckets or in partitions of
    the `read_set`. The caller holds the lock under which it publishes. `now` is the timeline listed under the lock. If
    `now` is None, the function lists the timeline itself. Only a writer with optimistic concurrency control checks for
    conflicts. In every other concurrency mode, the function returns None.
    """
    if config.concurrency_mode != OPTIMISTIC:
        return None
    touched = {place(file.partition, file.file_id) for file in files}
    now = now or load(context.storage)
    if context.rules.conflict_reads == "ignored":
        read_set = NO_READS
    if read_set.as_of is not None:
        sealed, now = context.whole(sealed).until(read_set.as_of), context.whole(now)
    for instant in completed_since(context, sealed, now):
        if may_conflict(context, now, instant):
            stats = context.commits.commit(instant).stats
            theirs = {place(stat.partition, stat.file_id) for stat in stats}
            if shared := {each for each in theirs if each in touched or read_set.covers(each[0])}:
                return conflict_with(requested, instant, shared)
    return None


def completed_since(context: Context, sealed: Timeline, now: Timeline) -> Iterator[Instant]:
    """Return the instants that completed after `sealed` was loaded, in order of completion. If `conflict_window` is
    "requested", return the instants that were requested after `sealed` was loaded.
    """
    known = {instant.requested for instant in sealed.completed}
    if context.rules.conflict_window == "completion":
        yield from (instant for instant in now.completed if instant.writes and instant.requested not in known)
    else:
        newest = max(known, default="")
        yield from (instant for instant in now.completed if instant.writes and instant.requested > newest)


def may_conflict(context: Context, timeline: Timeline, instant: Instant) -> bool:
    """Return whether a completed instant is of a kind that can conflict with a writer."""
    if timeline.is_log_compaction(instant):
        return False
    replaces = timeline.is_compaction(instant) and context.commits.commit(instant).replaces
    return replaces or not timeline.is_compaction(instant) or context.rules.priority == "first"


def place(partition: str, file_id: str) -> Bucket:
    return partition, bucket_of(file_id)


def conflict_with(requested: str, instant: Instant, shared: set[Bucket]) -> Conflict:
    """Return the error that reports a conflict with `instant` in the buckets `shared`."""
    partition, bucket = min(shared, key=lambda place: (place[0], place[1] or 0))
    place = f"bucket {bucket}" + (f" of {partition}" if partition else "")
    several = f"{len(shared)} of its buckets, {place} among them" if len(shared) > 1 else place
    return Conflict(
        f"publish the write requested at {requested}",
        f"the {instant.action} requested at {instant.requested} has written {several} "
        f"and completed at {instant.completed}",
        "run it again, which takes a new instant; `retries` does so by itself",
        against=instant.requested,
    )
