"""Optimistic concurrency control: before a write is published, finds the completed writes that conflict with it
(RFC-22, step 4).

Two writes conflict if both have written files to the same bucket of the same partition. Buckets rather than file ids
are compared, because two writers may start different file groups for an empty bucket. A compaction does not conflict
with a writer, because the completion time of the writer's log determines the file slice to which the log belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import Final

from ..config import TableConfig
from ..config.concurrency import OPTIMISTIC
from ..context import Context
from ..data.tasks import WrittenFile
from ..errors import Conflict
from ..files.slices import pending_plans
from ..names import Generation, bucket_of, generation_of
from ..timeline import Instant, Timeline
from ..timeline.announcements import Bucket, Footprint
from ..timeline.history import Active
from ..timeline.resize_plans import generation_made


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
    at_request: Active,
    now: Active | None = None,
    read_set: ReadSet = NO_READS,
) -> Conflict | None:
    """Return the `Conflict` that forbids publishing `files`; None if there is no conflict.

    Another write conflicts if it completed after `at_request` was listed, and if it has files in the buckets of `files`
    or in partitions of `read_set`. `at_request` was listed under the lock under which the write was requested, and
    `now` under the lock under which it is published, which the caller must hold unless the decision log decides. If
    `now` is None, the function lists the timeline itself. Conflicts are checked only under optimistic
    concurrency control.
    """
    footprint = footprint_of(context, config, files, at_request, read_set)
    if footprint is None:
        return None
    first = config.buckets or 1
    own = generation_of(files[0].file_id, first) if files else Generation(0, first)
    return found_conflict(context, requested, footprint, now or context.active(), partial(places, own, first))


def footprint_of(
    context: Context, config: TableConfig, files: Sequence[WrittenFile], at_request: Active, read_set: ReadSet
) -> Footprint | None:
    """Return what the conflict check of a write must know; None if the write is not optimistic."""
    if config.concurrency_mode != OPTIMISTIC:
        return None
    if context.rules.conflict_reads == "ignored":
        read_set = NO_READS
    # A dictionary removes repetitions and keeps the order, which a set does not.
    buckets = tuple({place(file.partition, file.file_id): None for file in files})
    partitions = None if read_set.partitions is None else tuple(read_set.partitions)
    if read_set.as_of is not None:
        return Footprint(buckets, partitions, as_of=read_set.as_of)
    return Footprint(buckets, partitions, tuple(sorted(instant.requested for instant in at_request.completed)))


def place(partition: str, file_id: str) -> Bucket:
    return partition, bucket_of(file_id)


def same_place(partition: str, file_id: str) -> set[Bucket]:
    return {place(partition, file_id)}


def places(own: Generation, first: int, partition: str, file_id: str) -> set[Bucket]:
    """Return the buckets of the generation `own` that can share a key with a file group, of any generation. `first` is
    the number of buckets before the first resize.
    """
    bucket, theirs = bucket_of(file_id), generation_of(file_id, first)
    if bucket is None or theirs == own:
        return same_place(partition, file_id)
    # Buckets are hashes modulo their number, so two of them share a key only if they are equal modulo the common
    # divisor.
    width = gcd(own.buckets, theirs.buckets)
    return {(partition, each) for each in range(bucket % width, own.buckets, width)}


def found_conflict(
    context: Context, requested: str, footprint: Footprint, active: Active,
    places_of: Callable[[str, str], set[Bucket]] = same_place,
) -> Conflict | None:  # fmt: skip
    """Return the `Conflict` that forbids publishing a write with the given footprint; None if there is no conflict.
    `active` was listed under the lock under which the write is published, or after the last entry of the decision log
    was read. `places_of` returns the buckets of the write that can share a key with a file group.
    """
    # Only base files meet pending plans: a log simply belongs to the slice before or after the plan.
    planned = pending_plans(active, context.commits, context.rules) if footprint.bases else {}
    for group, (plan, _) in planned.items():
        if plan not in footprint.known and place(*group) in footprint.bases:
            return conflict_with(requested, Instant(plan, "compaction", "requested"), {place(*group)})
    # Writes since an earlier state may be archived by now. Writes since the request cannot be: a pending instant holds
    # the archiver back.
    after: Timeline = context.history(active).whole if footprint.as_of else active
    known: Collection[str] = footprint.known
    if footprint.as_of:
        known = [instant.requested for instant in after.until(footprint.as_of).completed]
    for instant in completed_since(context, known, after):
        if may_conflict(context, after, instant):
            stats = context.commits.commit(instant).stats
            theirs = {each for stat in stats for each in places_of(stat.partition, stat.file_id)}
            if shared := shared_places(footprint, theirs):
                return conflict_with(requested, instant, shared)
    return None


def shared_places(footprint: Footprint, theirs: Collection[Bucket]) -> set[Bucket]:
    """Return the buckets in `theirs` that the write has written, or that are in partitions that it has read."""
    reads = ReadSet(footprint.partitions)
    own = {*footprint.buckets, *footprint.bases}
    return {each for each in theirs if each in own or reads.covers(each[0])}


def completed_since(context: Context, before: Collection[str], now: Timeline) -> Iterator[Instant]:
    """Yield the writes that are completed in `now` and not requested at a time in `before`, in order of completion.
    Under `Rules(conflict_window="requested")`, yield the completed writes requested later than all of `before`.
    """
    known = frozenset(before)
    if context.rules.conflict_window == "completion":
        yield from (instant for instant in now.completed if instant.writes and instant.requested not in known)
    else:
        newest = max(known, default="")
        yield from (instant for instant in now.completed if instant.writes and instant.requested > newest)


def may_conflict(context: Context, timeline: Timeline, instant: Instant) -> bool:
    """Return whether a completed instant can conflict with a writer: compactions and log compactions normally cannot,
    and a resize never does.
    """
    if timeline.is_log_compaction(instant):
        return False
    if instant.action == "replacecommit" and generation_made(context.commits.commit(instant)):
        return False
    replaces = timeline.is_compaction(instant) and context.commits.commit(instant).replaces
    return replaces or not timeline.is_compaction(instant) or context.rules.priority == "first"


def conflict_with(requested: str, instant: Instant, shared: set[Bucket]) -> Conflict:
    """Return the error for a conflict with `instant` in the buckets `shared`."""
    # The least one, so that the message is the same in each run.
    partition, bucket = min(shared, key=lambda place: (place[0], place[1] or 0))
    place = f"bucket {bucket}" + (f" of {partition}" if partition else "")
    several = f"{len(shared)} of its buckets, {place} among them" if len(shared) > 1 else place
    return Conflict(
        f"publish the write requested at {requested}",
        f"the {instant.action} requested at {instant.requested} has written {several} "
        f"and completed at {instant.completed}" if instant.completed
        else f"the {instant.action} {instant.requested} is planned in {several}",
        "run it again, which takes a new instant; `retries` does so by itself",
        against=instant.requested,
    )
