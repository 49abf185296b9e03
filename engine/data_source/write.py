"""Implements writes of the data source with the commit protocol of `upsert`. Spark's write tasks create the data files.

Spark's Data Source API does not shuffle rows before a write, so the rows of a file group arrive in several Spark tasks.
Each task writes separate log files into a file group, even in a bulk insert. `Table.bulk_insert` shuffles the rows, and
therefore writes one base file for each file group. If several tasks write rows with the same key, readers return the
row with the greatest ordering value. If their ordering values are equal, the committing process combines the rows of
the file group before the commit (see `duplicates`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ..actions.maintain import serve_writer
from ..config import TableConfig
from ..config.options import IN_PROCESS, PROVIDER
from ..context import Context
from ..data.check import problems, refuse
from ..data.columns import conform
from ..data.digest import Digest, digest_of
from ..data.known_keys import insert_keys, unknown_keys
from ..data.memory import rows_of_task
from ..data.shape import table_shape
from ..data.tasks import VERSIONS_PER_TASK, TableShape, WriteTask, WrittenFile
from ..data.write import bucket_column, split_by_group, with_inserts, write_group
from ..errors import BadInput, Unsupported
from ..lock import InProcessLock
from ..names import RandomNames, bucket_of
from ..schema import from_spark
from ..spark.shared_disk import Witness, check_shared, witness_of_instant
from ..spark.shipping import reduced
from ..spark.worker import in_words
from ..storage import Storage
from ..storage.failures import without_user
from ..table import Table
from ..timeline.heartbeats import StoredHeartbeats
from ..timeline.history import Active
from ..wiring import context_of, coordinated
from ..writes.announced import is_announced
from ..writes.batch import as_deletes, as_upserts
from ..writes.commit_protocol import undo_on_error
from ..writes.commits import write_commit
from ..writes.data_write import action_of, publish, write_task
from ..writes.decision_log import catch_up, uses_decision_log
from ..writes.idempotency import Repeated, batch_metadata, check_batch_id, digest_of_files, resolve_repeated
from ..writes.unlocked_request import begin_write
from .duplicates import Fingerprints, combined, fingerprints, shared_groups
from .options import WriteOptions
from .table import open_or_create, with_columns


@dataclass
class WrittenFiles(WriterCommitMessage):
    """The files that one Spark task wrote, and the fingerprints (row hashes) of its rows."""

    files: list[WrittenFile]
    row_fingerprints: Fingerprints | None = None


def begin(schema: StructType, overwrite: bool, options: WriteOptions) -> DataSourceArrowWriter:
    """Run the checks of a write that need no rows, then create the write's instant on the timeline. `begin` runs once
    for each write.
    """
    from .replacing import DELETE, REPLACING, PartitionDeleter, ReplacingWriter, check_replacing

    check_batch_id(options.batch_id, options.replay_difference)
    if overwrite:
        options = overwriting(options)
    columns = from_spark(schema)
    table = writable(options, columns)
    context, config = table.context, table.config
    if options.operation in REPLACING and not context.active().instants:
        options = replace(options, operation="insert")  # there is nothing to replace
    if options.operation in (DELETE, *REPLACING):
        check_replacing(options, config, columns)
    if options.operation == DELETE:
        return PartitionDeleter(context.storage, config, options, table_shape(config, context.rules))
    writer = ReplacingWriter if options.operation in REPLACING else BatchWriter
    action = action_of(config)
    try:
        requested, at_request = begin_write(context, config, action, options.batch_id, starts=True)
    except Repeated as written:
        return RepeatedBatchWriter(context.storage, config, options, written)
    with undo_on_error(context, requested, action):
        task = replace(write_task(context, config, requested, at_request), digests=options.batch_id is not None)
        there = witness_of_instant(context.storage, requested)
    return writer(context.storage, config, options, task, at_request, there)


def overwriting(options: WriteOptions) -> WriteOptions:
    """Return the options of a write with ``mode("overwrite")``, which replaces all rows of the table. Hudi deletes the
    table's folder, and its readers with it; here the older states of the table stay readable.
    """
    if options.operation in ("delete", "delete_partition"):
        raise BadInput(
            f'{options.operation.replace("_", " ")} with mode("overwrite")', "nothing would be deleted by name",
            'use mode("append")',
        )  # fmt: skip
    return replace(options, operation="insert_overwrite_table")


def writable(options: WriteOptions, columns: pa.Schema) -> Table:
    """Open the table of a write, or create the table from the options if it does not exist. Errors that do not depend
    on the rows are raised here, before the write starts.
    """
    table = open_or_create(options, columns)
    context, config = table.context, table.config
    config.check_writable()
    if isinstance(context.lock, InProcessLock):
        raise Unsupported(
            f"write to {without_user(context.storage.url)} through a data source",
            f"Spark begins and commits the write in processes of its own, and {IN_PROCESS} excludes the threads of one",
            f"create the table with another {PROVIDER}, or use Table.upsert",
        )
    if options.adds_columns:
        table = with_columns(table, columns)
    if options.operation != "delete_partition":
        batch_of(columns.empty_table(), options, table.config)
    return table


def batch_of(rows: pa.Table, options: WriteOptions, config: TableConfig) -> pa.Table:
    """Return the rows as upserts or deletes in the table's schema. Raises `BadInput` for rows that do not fit the
    table.
    """
    if options.operation != "delete":
        return as_upserts(rows, config, by_value=False)
    key = (*config.record_key, *config.partition_by)
    return as_deletes(rows, config.schema, key, config.ordering, config.session_time_zone, by_value=False)


@dataclass
class TaskDigest(WriterCommitMessage):
    """The digest of the rows of one Spark task."""

    digest: Digest


class TableWriter(DataSourceArrowWriter):
    """Base class of the writers that Spark pickles and sends to the tasks and to the committing process."""

    def __init__(self, storage: Storage, config: TableConfig, options: WriteOptions) -> None:
        self._storage = storage
        self._config = config
        self._options = options

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self, vars(self))

    def _context(self) -> Context:
        return coordinated(context_of(None, self._storage), self._config)


class RepeatedBatchWriter(TableWriter):
    """The writer of a repeated batch that has already been committed. Each task computes the digest of its rows, and
    `commit` compares the sum of the digests with the digest of the committed batch.
    """

    def __init__(self, storage: Storage, config: TableConfig, options: WriteOptions, written: Repeated) -> None:
        super().__init__(storage, config, options)
        self._batch_id, self._instant = written.batch_id, written.instant

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskDigest:
        tables = (pa.Table.from_batches([batch]) for batch in iterator if batch.num_rows)
        digests = (digest_of(_conformed(rows, self._options, self._config)) for rows in tables)
        with in_words():
            return TaskDigest(sum(digests, Digest()))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        digest = sum((message.digest for message in messages if isinstance(message, TaskDigest)), Digest())
        with in_words():
            written = Repeated(self._batch_id, self._instant)
            resolve_repeated(self._context(), written, digest, self._options.replay_difference)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Do nothing: the tasks of a repeated batch write no files, and the instant of the committed batch must not be
        undone.
        """


class BatchWriter(TableWriter):
    """The writer of one batch. Spark creates the writer once, on the driver's machine. `write` runs in each Spark task,
    and `commit` or `abort` runs once in a separate process on the driver's machine.
    """

    def __init__(
        self,
        storage: Storage,
        config: TableConfig,
        options: WriteOptions,
        task: WriteTask,
        at_request: Active,
        there: Witness | None = None,
    ) -> None:
        """`there` is a file of the table that the driver has read. A task that cannot find this file has no access to
        the table.
        """
        super().__init__(storage, config, options)
        self._there = there
        self._at_request = at_request
        self._task = task

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenFiles:
        with in_words():
            check_shared(self._storage, self._there)
            return self._written(iterator)

    def _written(self, iterator: Iterator[pa.RecordBatch]) -> WrittenFiles:
        # The process that requested the instant has ended.
        heartbeats = StoredHeartbeats(self._storage, *self._config.coordination.heartbeat_interval)
        heartbeats.start(self._task.instant)
        try:
            rows = checked_rows(iterator, self._options, self._config, self._task.shape)
            return self.put(rows)
        finally:
            heartbeats.stop_renewing(self._task.instant)

    def put(self, found: pa.Table | None) -> WrittenFiles:
        """Write `found`, the rows of the running Spark task, to data files; None means that the task has no rows."""
        if found is None:
            return WrittenFiles([])
        here = TaskContext.get()
        number = here.partitionId() if here else 0
        # Copy on write needs all rows of a group at once: they wait in log files, which no commit will list.
        task = replace(self._task, first_version=1 + VERSIONS_PER_TASK * number, onto=None)
        return WrittenFiles(write_rows(self._storage, found, task, number), fingerprints(found, task.shape))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        with in_words():
            self._commit(messages)

    def _commit(self, messages: list[WriterCommitMessage | None]) -> None:
        written = [message for message in messages if isinstance(message, WrittenFiles)]
        files = [file for message in written for file in message.files]
        digest = digest_of_files(files)  # before files are combined, which change no row of the batch
        shared = shared_groups([each.row_fingerprints for each in written if each.row_fingerprints is not None])
        if self._task.onto is not None:
            shared = frozenset((file.partition, bucket_of(file.file_id) or 0) for file in files)
        if shared:
            last = replace(self._task, first_version=1 + VERSIONS_PER_TASK * len(messages))
            files = combined(self._storage, last, files, shared, _rewriter(self._storage, last, len(messages)))
        requested = self._task.instant
        batch_id = self._options.batch_id
        more = batch_metadata(batch_id, digest)
        commit = partial(write_commit, self._config, requested, self._options.operation.upper(), more=more)
        context = self._context()
        try:
            publish(
                context, self._config, requested, at_request=self._at_request, files=files, commit=commit,
                batch_id=batch_id, known=self._task.known,
            )  # fmt: skip
        except Repeated as repeated:  # another attempt was faster, and this one has taken its own back
            resolve_repeated(context, repeated, digest, self._options.replay_difference)
        if self._options.services is not None:
            serve_writer(context, self._config, self._options.services)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete the data files and the instant of the write, unless the instant has completed. Spark calls `abort`
        even if `commit` has published the instant and failed afterwards.
        """
        context, requested = self._context(), self._task.instant
        if uses_decision_log(context):
            catch_up(context)  # what is decided is committed, whether or not its writer came to publish it
        instant = context.active().find(requested)
        if is_announced(context, requested, action_of(self._config)):
            return  # another actor may commit it at any time
        if instant is not None and instant.completed is None:
            with suppress(_Aborted), undo_on_error(context, requested, action_of(self._config)):
                raise _Aborted


def checked_rows(
    iterator: Iterator[pa.RecordBatch], options: WriteOptions, config: TableConfig, shape: TableShape
) -> pa.Table | None:
    """Return the checked rows of a Spark task, converted to the table's columns. Returns None if the task has no rows.
    """
    rows = rows_of_task(iterator, shape.limits)
    if rows is None:
        return None
    found = _conformed(rows, options, config)
    refuse(problems(found, shape, deletes=options.operation in ("upsert", "insert", "delete")), shape)
    return found


def _conformed(rows: pa.Table, options: WriteOptions, config: TableConfig) -> pa.Table:
    """Cast the batch to the types of the table, because timestamps in Spark's Arrow batches have the session's time
    zone. A timestamp without a zone is converted later, by the zone that the options name.
    """

    def is_kept(field: pa.Field) -> bool:
        zoneless = pa.types.is_timestamp(field.type) and field.type.tz is None
        return zoneless or field.name not in config.schema.names

    wanted = [field if is_kept(field) else config.schema.field(field.name) for field in rows.schema]
    return batch_of(conform(rows, pa.schema(wanted)), options, config)


def write_rows(storage: Storage, rows: pa.Table, task: WriteTask, writer: int) -> list[WrittenFile]:
    """Write rows to log files, one file group at a time. The rows must have passed the validation by `problems`.

    Raises `BadInput` if the record index refuses a key.
    """
    names, shape = RandomNames(), task.shape
    refuse(unknown_keys(storage, rows, task), shape)
    inserts = insert_keys(storage, names, rows, task)
    groups = split_by_group(rows, bucket_column(rows, shape), shape)
    files = [file for group in groups for file in write_group(storage, names, task, group, writer)]
    return with_inserts(files, inserts)


def _rewriter(storage: Storage, task: WriteTask, writer: int) -> Callable[[pa.Table], Sequence[WrittenFile]]:
    def rewrite(rows: pa.Table) -> list[WrittenFile]:
        refuse(problems(rows, task.shape), task.shape)
        return write_rows(storage, rows, task, writer)

    return rewrite


class _Aborted(Exception):
    pass
