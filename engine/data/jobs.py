"""Defines the interface that runs data tasks (write, compact, read), and its in-process implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from ..names import Names
from ..storage import NotFound, Storage, together
from ..timeline.cleans import cleaned_away
from ..timeline.restores import file_restored_away
from .changes import read_changes
from .check import problems, refuse
from .compact import compact_group
from .digest import Digest, digest_of
from .fetch import missing
from .index_tasks import HomeTask, IndexTask
from .known_keys import index_keys, insert_keys, unknown_keys
from .log_compact import compact_logs
from .move import move_home, move_records
from .passes import slice_parts
from .read import read_window
from .tasks import (
    AnyCompaction,
    AnyRead,
    CompactTask,
    MoveTask,
    ReadTask,
    TableShape,
    WindowTask,
    WriteTask,
    WrittenFile,
)
from .write import bucket_column, split_by_group, with_inserts, write_group


class Jobs(Protocol):
    """Runs data tasks (write, compact, read) in this process or on Spark. `data` and the result of `read` are Arrow
    tables or Spark DataFrames, depending on the implementation.

    A data task is not a Spark task: a `WriteTask` describes a whole batch, which several Spark tasks may write. One
    Spark task processes a compaction task or a read task whole.
    """

    @property
    def takes_conditions_later(self) -> bool:
        """True if a condition can still be added to the read tasks after `read` has returned."""
        ...

    def write(self, data: Any, task: WriteTask) -> list[WrittenFile]:
        """Write the rows of a batch to log files or base files in their file groups. Readers do not use the new files
        until the instant completes.

        Raises `BadInput` if rows violate a rule in `data.check.RULES`. Rows are checked while they are written, so that
        the batch is evaluated only once. After an error, the caller must delete the files that were already written.
        """
        ...

    def digest(self, data: Any, shape: TableShape, sets: frozenset[str] | None) -> Digest:
        """Return the digest of a batch. Computing the digest evaluates the batch but writes no files."""
        ...

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        """Run compactions, which write a base file and tombstones for each slice, or log compactions, which write one
        log for each slice. Readers do not use the new files until the instant of the compaction completes.
        """
        ...

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> Any:
        """Return the rows of all read tasks. `schema` is the schema of the result."""
        ...


class PlannedReads:
    """An implementation of `Jobs` that executes nothing. `read` returns the read tasks and their schema, for a caller
    that executes the tasks later.
    """

    takes_conditions_later = True

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> tuple[tuple[AnyRead, ...], pa.Schema]:
        return tuple(tasks), schema

    def check(self, data: Any, shape: TableShape) -> int:
        raise AssertionError("a read checks no batch")

    def write(self, data: Any, task: Any) -> Any:
        raise AssertionError("a read writes nothing")

    def digest(self, data: Any, shape: TableShape, sets: Any) -> Any:
        raise AssertionError("a read has no batch")

    def compact(self, tasks: Any) -> Any:
        raise AssertionError("a read compacts nothing")


class InProcessJobs:
    """Runs data tasks in this process, on pyarrow tables. All files are accessed through `storage`.

    On a file system, the calling thread writes the file groups one after the other. On an object store, several threads
    write file groups in parallel.
    """

    takes_conditions_later = False

    def __init__(self, storage: Storage, names: Names) -> None:
        self._storage = storage
        self._names = names

    def write(self, data: pa.Table, task: WriteTask) -> list[WrittenFile]:
        if not len(data):
            return []
        refuse(problems(data, task.shape, deletes=not task.bulk), task.shape)
        refuse(unknown_keys(self._storage, data, task), task.shape)
        groups = split_by_group(data, bucket_column(data, task.shape), task.shape)
        tasks = [partial(write_group, self._storage, self._names, task, group, spark_task=0) for group in groups]
        inserts = insert_keys(self._storage, self._names, data, task)
        return with_inserts([file for files in together(self._storage, tasks) for file in files], inserts)

    def digest(self, data: pa.Table, shape: TableShape, sets: frozenset[str] | None) -> Digest:
        return digest_of(data, sets)

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        return [file for task in tasks for file in run_compaction(self._storage, self._names, task)]

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> pa.Table:
        parts = [run_read(self._storage, task) for task in tasks]
        return pa.concat_tables(parts) if parts else schema.empty_table()


class WatchedJobs(InProcessJobs):
    """Runs data tasks in this process, and calls `watch(done, total)` before each file group of a compaction to report
    progress.
    """

    def __init__(self, storage: Storage, names: Names, watch: Callable[[int, int], None]) -> None:
        super().__init__(storage, names)
        self._watch = watch

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        files = []
        for number, task in enumerate(tasks):
            self._watch(number, len(tasks))
            files += super().compact([task])
        return files


def run_compaction(storage: Storage, names: Names, task: AnyCompaction) -> list[WrittenFile]:
    """Run a task of a compaction, log compaction, resize or record index.

    Raises `Missing` if an input file does not exist.
    """
    try:
        if isinstance(task, CompactTask):
            return compact_group(storage, names, task)
        if isinstance(task, MoveTask):
            return move_records(storage, names, task)
        if isinstance(task, HomeTask):
            return move_home(storage, names, task)
        if isinstance(task, IndexTask):
            return index_keys(storage, names, task)
        return compact_logs(storage, names, task)
    except NotFound as absent:
        raise missing(str(absent)) from None


def run_read(storage: Storage, task: AnyRead) -> pa.Table:
    """Return the rows of one read task. Raises the same errors as `run_parts`."""
    parts = list(run_parts(storage, task))
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts)


def run_parts(storage: Storage, task: AnyRead) -> Iterator[pa.Table]:
    """Yield the rows of one read task in one or more parts.

    Raises `Cleaned` if a clean or restore has deleted an input file, and `Missing` if an input file is missing for
    another reason.
    """
    try:
        if isinstance(task, ReadTask):
            yield from slice_parts(storage, task)
        else:
            yield read_window(storage, task) if isinstance(task, WindowTask) else read_changes(storage, task)
    except NotFound as absent:
        path = str(absent)
        raise cleaned_away(storage, path) or file_restored_away(storage, path) or missing(path) from None
