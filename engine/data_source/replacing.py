"""Implements the operations of the data source that replace or delete partitions.

A replacing write needs all rows of a file group at once, and Spark's Data Source API does not shuffle. Each Spark task
therefore writes its rows to log files of an instant that is never completed. The committing process reads them back,
one file group at a time, replaces the partitions as `Table.insert_overwrite` does, and undoes the instant of the tasks.
If it dies, a rollback deletes the files as those of any failed write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import WriterCommitMessage

from ..actions import delete_partition, insert_overwrite
from ..actions.maintain import serve_writer
from ..config import TableConfig
from ..context import Context
from ..data.check import problems, refuse
from ..data.columns import one_array
from ..data.jobs import InProcessJobs
from ..data.keys import partition_paths
from ..data.tasks import TableShape, WriteTask, WrittenFile
from ..data.write import GroupBatch, bucket_column, split_by_group, write_group
from ..errors import BadInput
from ..files.slices import find_files
from ..names import Names, bucket_of
from ..services.replacing import replace_partitions
from ..spark.worker import in_words
from ..storage import Storage
from ..writes.commit_protocol import undo_on_error
from ..writes.data_write import action_of
from .duplicates import rows_of_log
from .options import OPERATION, PARTITIONS, WriteOptions
from .write import BatchWriter, TableWriter, WrittenFiles

REPLACING = ("insert_overwrite", "insert_overwrite_table")
DELETE = "delete_partition"


class ReplacingWriter(BatchWriter):
    """Replaces the partitions of the batch (insert_overwrite), or all partitions of the table (insert_overwrite_table).
    """

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        with in_words():
            self._replace([file for each in messages if isinstance(each, WrittenFiles) for file in each.files])

    def _replace(self, files: Sequence[WrittenFile]) -> None:
        context, config = self._context(), self._config
        partitions = {file.partition for file in files}
        if self._options.operation == "insert_overwrite_table":
            partitions |= _partitions_of(context)
        jobs = _StagedJobs(context.storage, context.names, self._task)
        try:
            replace_partitions(replace(context, jobs=jobs), config, partitions, files, insert_overwrite.OPERATION)
        finally:
            self._undo(context)
        if self._options.services is not None:
            serve_writer(context, config, self._options.services)

    def _undo(self, context: Context) -> None:
        with suppress(_Staged), undo_on_error(context, self._task.instant, action_of(self._config)):
            raise _Staged


class _Staged(Exception):
    """Ends the instant of the tasks, whose rows have been written again."""


class _StagedJobs(InProcessJobs):
    """Writes the rows of log files that Spark tasks have written, one file group at a time."""

    def __init__(self, storage: Storage, names: Names, staged: WriteTask) -> None:
        super().__init__(storage, names)
        self._staged = staged

    def write(self, data: Any, task: WriteTask) -> list[WrittenFile]:
        """`data` are the files of the tasks."""
        groups: dict[tuple[str, int], list[WrittenFile]] = {}
        for file in data:
            groups.setdefault((file.partition, bucket_of(file.file_id) or 0), []).append(file)
        if task.generation != self._staged.generation:  # a resize has completed since the tasks wrote
            return self._regrouped([file for _, files in sorted(groups.items()) for file in files], task)
        written = []
        for number, ((partition, bucket), files) in enumerate(sorted(groups.items())):
            rows = self._rows(files, task)
            group = GroupBatch(partition, bucket, rows, 0)
            written += write_group(self._storage, self._names, task, group, spark_task=number)
        return written

    def _rows(self, files: Sequence[WrittenFile], task: WriteTask) -> pa.Table:
        rows = pa.concat_tables([part for file in files for part in rows_of_log(self._storage, file, self._staged)])
        refuse(problems(rows, task.shape, deletes=False), task.shape)
        return rows

    def _regrouped(self, files: Sequence[WrittenFile], task: WriteTask) -> list[WrittenFile]:
        rows = self._rows(files, task)
        groups = split_by_group(rows, bucket_column(rows, task.shape), task.shape)
        return [file for group in groups for file in write_group(self._storage, self._names, task, group, 0)]


def _partitions_of(context: Context) -> set[str]:
    whole = context.history().whole
    return {file.partition for file in find_files(context.storage, whole, context.commits, context.rules)}


@dataclass
class PartitionsOfTask(WriterCommitMessage):
    """The partitions of the rows of one Spark task."""

    partitions: frozenset[str]


class PartitionDeleter(TableWriter):
    """Deletes the partitions that an option names, or else those of the rows of the batch."""

    def __init__(self, storage: Storage, config: TableConfig, options: WriteOptions, shape: TableShape) -> None:
        super().__init__(storage, config, options)
        self._shape = shape

    def write(self, iterator: Iterator[pa.RecordBatch]) -> PartitionsOfTask:
        found: set[str] = set()
        for batch in iterator:
            if batch.num_rows and not self._options.partitions:
                found.update(one_array(partition_paths(pa.Table.from_batches([batch]), self._shape.keys)).to_pylist())
        return PartitionsOfTask(frozenset(found))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        found = {path for each in messages if isinstance(each, PartitionsOfTask) for path in each.partitions}
        with in_words():
            named = {self._path(text) for text in self._options.partitions}
            delete_partition.run(self._context(), self._config, sorted(named or found))

    def _path(self, text: str) -> str:
        """Return the path of a partition that is named by its path or, in Hudi's default style, by its values."""
        names = self._config.partition_by
        levels = text.split("/")
        if not self._config.hive_style or "=" in text or len(levels) != len(names):
            return text
        return "/".join(f"{name}={level}" for name, level in zip(names, levels, strict=True))

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Do nothing: the tasks write no files."""


def check_replacing(options: WriteOptions, config: TableConfig, columns: pa.Schema) -> None:
    """Raise `BadInput` if the options or the columns do not fit an operation of this module, and `Unsupported` if the
    table's record index does not.
    """
    if options.operation != DELETE:
        insert_overwrite.refuse_index(config)
    asked = f"write with {OPERATION}={options.operation}"
    if options.batch_id is not None:
        raise BadInput(
            f"{asked} and batch.id={options.batch_id}", "only upserts and deletes have an id", "leave it out"
        )
    missing = [name for name in config.partition_by if name not in columns.names]
    if options.operation == DELETE and not options.partitions and (missing or not config.partition_by):
        exists = f"the rows have no column {missing[0]!r}" if missing else "the table has no partitions"
        raise BadInput(asked, exists, f"name the partitions in {PARTITIONS}")
