"""The mapping of keys to file groups, which a resize changes while writers continue.

In a table that it knows as resized, a writer reads the mapping after its request is on the timeline, at the same point
as the writers of the model (docs/resizes.md, rule 4). Under the lock that covers its publication, it reads the mapping
again: if a resize has completed since, it releases the lock, puts its records into the new file groups, and leaves its
old files out of its commit. So no write is refused, and readers need not know of replaced file groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..config import TableConfig
from ..config.table_config import RESIZED
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import AnyCompaction, BaseInput, LogInput, MoveTask, WriteTask, WrittenFile
from ..definition.load import load_properties
from ..errors import Conflict
from ..file_names import partition_metadata
from ..names import Generation, bucket_file_id, generation_of, meets
from ..timeline import Instant, Timeline
from ..timeline.history import Active
from ..timeline.resize_plans import CLUSTERING, ResizePlan, resizes
from .attempts import delete_own_files
from .commit_protocol import LeavesLock, complete, publication_conflict, undo_on_error
from .unknown_index import unknown_index

Source = tuple[str, str, LogInput | BaseInput]
"""Partition and file id of a data file, and the file."""


class OtherGroups(LeavesLock):
    """Raised under the lock by a writer whose keys have other file groups since it began to write."""

    def tasks(
        self, context: Context, config: TableConfig, requested: str, sources: Sequence[Source]
    ) -> Sequence[AnyCompaction]:
        """Return the tasks that put the records of the write's files, which are in merge order, into these groups."""
        raise NotImplementedError


class OtherMapping(OtherGroups):
    """Raised if a resize has completed."""

    def __init__(self, generation: Generation) -> None:
        super().__init__()
        self.generation = generation

    def tasks(
        self, context: Context, config: TableConfig, requested: str, sources: Sequence[Source]
    ) -> Sequence[AnyCompaction]:
        return move_tasks(context, config, requested, sources, self.generation)


def current_generation(context: Context, config: TableConfig, active: Active) -> Generation:
    """Return the generation of the file groups that a snapshot opens. `active` is a listing of the timeline.

    The newest resize may be archived. The archive is read only if the table has ever been resized, which its properties
    record. They are read again only if an instant is archived that is newer than all that this process has listed when
    it last published: an older resize would have been on that listing.
    """
    found = newest_resize(context, active)
    if found is None and active.newest_archived and _is_resized(context, config, active):
        found = newest_resize(context, context.history(active).current)
    return found[1] if found else Generation(0, config.buckets or 1)


def newest_resize(context: Context, timeline: Timeline) -> tuple[Instant, Generation] | None:
    """Return the newest completed resize of a timeline, with the generation that it made."""
    return next(resizes(context.commits, reversed(timeline.completed)), None)


def _is_resized(context: Context, config: TableConfig, active: Active) -> bool:
    if RESIZED in config.writer_features:
        return True
    decoded = context.commits.decoded
    if config.coordination.decision != "lock" or active.newest_archived <= decoded.unresized_until:
        return False  # under another decision no table is resized
    if RESIZED in load_properties(context.storage).get("nbcc.writer.features", ""):
        return True
    decoded.unresized_until = active.newest_archived
    return False


def pending_resize(context: Context, timeline: Timeline) -> tuple[Instant, ResizePlan] | None:
    """Return the pending resize of a timeline, with its plan. A pending state without a plan does not count: a stalled
    runner has put it after the resize was cancelled.
    """
    for instant in timeline.pending:
        if instant.action == CLUSTERING and (plan := context.commits.resize_plan_or_none(instant.requested)):
            return instant, plan
    return None


def to_generation(task: WriteTask, generation: Generation) -> WriteTask:
    """Return a task that writes into the file groups of a generation."""
    shape = replace(task.shape, buckets=generation.buckets)
    return replace(task, shape=shape, generation=generation.number)


def check_mapping(context: Context, config: TableConfig, files: Sequence[WrittenFile], active: Active) -> None:
    """Raise `OtherMapping` if a file belongs to a file group that a resize has replaced. The caller holds the lock."""
    if not files:
        return
    now = current_generation(context, config, active)
    if any(generation_of(file.file_id, config.buckets or 1) != now for file in files):
        raise OtherMapping(now)
    if not now.number and active.completed and all(instant.action != CLUSTERING for instant in active.pending):
        # A later resize takes its time under the lock, after all completed times of this listing.
        decoded = context.commits.decoded
        decoded.unresized_until = max(decoded.unresized_until, active.completed[-1].completed or "")


def moved(
    context: Context, config: TableConfig, requested: str, files: Sequence[WrittenFile], other: OtherGroups
) -> list[WrittenFile]:
    """Put the records of a pending write into other file groups, delete its files, and return the new ones."""
    # Base files have no version and come first, then the logs in the order in which they were written.
    in_order = sorted(files, key=lambda file: file.version or 0)
    put = context.jobs.compact(other.tasks(context, config, requested, sources_of(in_order, requested)))
    # Only after the new ones are put: a rollback finds both by their markers.
    delete_own_files(context, requested, files)
    return put


def complete_in_current_groups(
    context: Context,
    config: TableConfig,
    requested: str,
    action: str,
    *,
    files: Sequence[WrittenFile],
    commit: Callable[[Sequence[WrittenFile]], bytes],
    refused_by: Callable[[Active | None, Sequence[WrittenFile]], Conflict | None],
    batch_id: str | None = None,
    may_check_early: bool = False,
    check_homes: Callable[[Active], None] = lambda now: None,
    is_shared: bool = True,
) -> Instant:
    """Complete a write like `commit_protocol.complete`, with its records in the file groups that hold its keys then.
    `check_homes` is called under the lock after the mapping is checked, and may raise `OtherGroups`, too. `refused_by`
    also receives the write's files, which are other files after each move.
    """

    def check_under_lock(now: Active | None) -> Conflict | None:
        if not config.merge_on_read or config.coordination.decision != "lock":
            return None
        now = now or context.active()
        if unknown := unknown_index(context, config, requested, now):
            return unknown
        check_mapping(context, config, files, now)
        check_homes(now)
        return None

    def refusal(now: Active | None) -> Conflict | None:
        return refused_by(now, files)

    while True:
        try:
            return complete(
                context, requested, action, files=files, commit=commit(files), batch_id=batch_id, refused_by=refusal,
                check_under_lock=check_under_lock, may_check_early=may_check_early, is_shared=is_shared,
            )  # fmt: skip
        except OtherGroups as other:
            with undo_on_error(context, requested, action):
                try:
                    files = moved(context, config, requested, files, other)
                except Exception as error:  # Spark wraps the error of a missing log
                    # A rollback deletes the logs of a writer that it takes for dead: they are not missing.
                    if undone := publication_conflict(context, context.active(), requested, action):
                        raise undone from error
                    raise


def sources_of(files: Iterable[WrittenFile], requested: str) -> list[Source]:
    return [
        (
            file.partition, file.file_id,
            BaseInput(file.path, file.size) if file.version is None
            else LogInput(file.path, requested, file.size, checksum=file.checksum),
        )
        for file in files
    ]  # fmt: skip


def move_tasks(
    context: Context, config: TableConfig, instant: str, sources: Sequence[Source], generation: Generation,
    version: int = 1,
) -> list[MoveTask]:  # fmt: skip
    """Return a task for each file group of `generation` that can hold records of `sources`, which are in merge order.
    """
    shape, first = table_shape(config, context.rules), config.buckets or 1
    shape = replace(shape, buckets=generation.buckets)
    tasks = []
    for partition in sorted({partition for partition, _, _ in sources}):
        for bucket in range(generation.buckets):
            target = bucket_file_id(bucket, generation)
            inputs = tuple(
                file for place, file_id, file in sources if place == partition and meets(file_id, target, first)
            )
            if inputs:
                of_bucket = (bucket, generation.buckets)
                tasks.append(MoveTask(shape, partition, target, of_bucket, inputs, instant, version))
    return tasks


def put_partitions(context: Context, config: TableConfig, partitions: Iterable[str], instant: str) -> None:
    """Put the metadata file of each partition that has none yet."""
    if config.partition_by:
        for partition in sorted(partitions):
            context.storage.put_if_absent(*partition_metadata(partition, instant))
