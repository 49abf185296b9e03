"""What a resize reads and writes: the base files of the new file groups, and copies of the logs that complete late."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ..config import TableConfig
from ..context import Context
from ..data.shape import keeps_tombstones, table_shape
from ..data.tasks import BaseInput, CompactTask, ReadTask
from ..files.group_files import BaseFile, Group, listed_file
from ..files.slices import FileSlice, all_slices, to_read
from ..names import Generation, bucket_file_id, meets
from ..reads.tasks import group_rules, log_inputs, read_task
from ..timeline import Instant, Timeline, completion_of
from ..timeline.history import Whole
from ..writes.commit_protocol import LeavesLock
from ..writes.mapping import Source


class FilesToCopy(NamedTuple):
    """The files of the writes that have completed since a resize was planned, or since its last round: in merge order,
    each with its file group. `until` is the completion time of the newest of these writes.
    """

    files: tuple[Source, ...]
    until: str

    @property
    def groups(self) -> frozenset[Group]:
        return frozenset((partition, file_id) for partition, file_id, _ in self.files)

    @property
    def size(self) -> int:
        """The bytes of the files."""
        return sum(file.size or 0 for _, _, file in self.files)


class LateLogs(LeavesLock):
    """Raised under the lock by a resize that has late files to copy."""

    def __init__(self, late: FilesToCopy) -> None:
        super().__init__()
        self.late = late


def slices_of(context: Context, timeline: Whole, requested: str) -> tuple[FileSlice, ...]:
    """Return the slices that a resize with the requested time `requested` merges: those of a snapshot as of then."""
    return to_read(all_slices(context.storage, timeline, context.commits, context.rules, requested), context.rules)


def base_tasks(
    context: Context, config: TableConfig, timeline: Whole, requested: str, generation: Generation
) -> list[CompactTask]:
    """Return the tasks that write one base file for each new file group, even if it has no row. Otherwise readers of
    Hudi would find no file group for the bucket, and its writers would use the replaced one.
    """
    sources = []
    for piece in slices_of(context, timeline, requested):
        rules = group_rules(context, timeline.find, piece.base.requested if piece.base else None)
        sources.append(read_task(piece, config, rules))
    partitions = {task.partition for task in sources} if config.partition_by else {""}
    return _tasks(context, config, partitions, sources, requested, generation)


def empty_tasks(
    context: Context, config: TableConfig, partitions: Iterable[str], requested: str, generation: Generation
) -> list[CompactTask]:
    """Return the tasks that write empty base files in partitions that are newer than the plan."""
    return _tasks(context, config, partitions, [], requested, generation)


def _tasks(
    context: Context, config: TableConfig, partitions: Iterable[str], sources: list[ReadTask], requested: str,
    generation: Generation,
) -> list[CompactTask]:  # fmt: skip
    shape, first = table_shape(config, context.rules), config.buckets or 1
    shape = replace(shape, buckets=generation.buckets)
    keeps = keeps_tombstones(shape, context.rules)
    tasks = []
    for partition in sorted(partitions):
        for bucket in range(generation.buckets):
            target = bucket_file_id(bucket, generation)
            inputs = tuple(
                task for task in sources if task.partition == partition and meets(task.file_id, target, first)
            )
            of_bucket = (bucket, generation.buckets)
            tasks.append(
                CompactTask(ReadTask(shape, partition, target), requested, keeps, sources=inputs, bucket=of_bucket)
            )
    return tasks


def late_files(context: Context, timeline: Timeline, since: str) -> FilesToCopy:
    """Return the files of the writes that completed after `since`. `timeline` is a listing of the active timeline,
    which shows all of them, because nothing is archived past a pending resize.
    """
    found: list[Source] = []
    until = since
    for instant in timeline.completed:
        if instant.writes and completion_of(instant) > since and not timeline.is_service(instant):
            found += _files_of(context, instant)
            until = completion_of(instant)
    return FilesToCopy(tuple(found), until)


def _files_of(context: Context, instant: Instant) -> list[Source]:
    files = [file for stat in context.commits.commit(instant).stats if (file := listed_file(stat, instant))]
    bases = [file for file in files if isinstance(file, BaseFile)]
    logs = sorted((file for file in files if not isinstance(file, BaseFile)), key=lambda file: file.version)
    found: list[Source] = [(file.partition, file.file_id, BaseInput(file.path, file.size)) for file in bases]
    return found + [(log.partition, log.file_id, file) for log, file in zip(logs, log_inputs(logs), strict=True)]
