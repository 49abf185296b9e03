"""Optimistic concurrency control: before a write is published, finds the completed writes that conflict with it
(RFC-22, step 4).

Two writes conflict if both have written files to the same bucket of the same partition. Buckets rather than file ids
are compared, because two writers may start different file groups for an empty bucket. A compaction does not conflict
with a writer, because the completion time of the writer's log determines the file slice to which the log belongs.
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

    `partitions` contains the paths of the partitions that were read; None means the whole table. `as_of` is the
    completion time of the table state that was read. If `as_of` is None, the table state was read when the write began.
    """

    partitions: Collection[str] | None = ()
    as_of: str | None = None

    def covers(self, partition: str) -> bool:
        """Return whether the write has read the given partition."""
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
    """Return the `Conflict` that forbids publishing `files`; None if there is no conflict.

    Another write conflicts if it completed after `sealed` was loaded, and if it has files in the buckets of `files` or
    in partitions of `read_set`. The caller must hold the lock under which it publishes. `now` is the timeline listed
    under the lock; if it is None, the function lists the timeline itself. Conflicts are checked only under optimistic
    concurrency control.
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
    """Yield the writes that are completed in `now` but not in the earlier timeline `sealed`, in order of completion.
    Under `Rules(conflict_window="requested")`, yield the completed writes requested later than every instant that is
    completed in `sealed`.
    """
    known = {instant.requested for instant in sealed.completed}
    if context.rules.conflict_window == "completion":
        yield from (instant for instant in now.completed if instant.writes and instant.requested not in known)
    else:
        newest = max(known, default="")
        yield from (instant for instant in now.completed if instant.writes and instant.requested > newest)


def may_conflict(context: Context, timeline: Timeline, instant: Instant) -> bool:
    """Return whether a completed instant can conflict with a writer: compactions and log compactions normally cannot.
    """
    if timeline.is_log_compaction(instant):
        return False
    replaces = timeline.is_compaction(instant) and context.commits.commit(instant).replaces
    return replaces or not timeline.is_compaction(instant) or context.rules.priority == "first"


def place(partition: str, file_id: str) -> Bucket:
    return partition, bucket_of(file_id)


def conflict_with(requested: str, instant: Instant, shared: set[Bucket]) -> Conflict:
    """Return the error for a conflict with `instant` in the buckets `shared`."""
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
