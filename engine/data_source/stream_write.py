"""Implements the streaming sink, `df.writeStream.format("nbcc")`.

Spark creates the writer twice for each micro-batch: before the tasks run, and again in the process that commits. The
constructor must not change the table, because it runs twice and does not know the query id. The query id is available
only in the local properties of a Spark task. The first task that acquires the lock requests the instant of the
micro-batch. Each task returns the instant's requested time, the query id and the batch number, and the commit publishes
the instant. A Python worker continues to renew the instant's heartbeat after its task has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ..config.concurrency import OPTIMISTIC
from ..context import Context
from ..data.digest import digest_of
from ..data.shape import table_shape
from ..definition.load import PROPERTIES
from ..errors import BadInput, Unsupported
from ..schema import from_spark
from ..spark.shared_disk import Witness, check_shared, in_local_folder, witness
from ..spark.shipping import reduced
from ..spark.worker import in_words
from ..storage import open_storage
from ..stream import QUERY_ID, batch_id_of
from ..table import Table
from ..timeline.heartbeats import StoredHeartbeats
from ..timeline.timeline import FOLDER
from ..writes.commit_protocol import undo_own_write
from ..writes.data_write import action_of, write_task
from ..writes.decision_log import decides_without_lock
from ..writes.idempotency import Repeated, check_batch_id, digest_of_files, repeated
from ..writes.shared_request import forget_elected, shared_request
from .options import BATCH_ID, WriteOptions
from .write import BatchWriter, RepeatedBatchWriter, TaskDigest, WrittenFiles, checked_rows, writable

BATCH_NUMBER: Final = "streaming.sql.batchId"
RUN: Final = "spark.jobGroup.id"
"""Local properties of Spark's tasks: the number of the batch, and the id of the run of the query."""

HAND_OVER_SECONDS: Final = 600.0
"""How long a worker renews the heartbeat after its task: until the commit, or until this time is up."""


class BatchOfQuery(WriterCommitMessage):
    """The commit message of one Spark task: the task's files or, for a repeated batch, the digest of its rows.

    `requested` is the requested time of the instant, or '' if the batch had already been committed when the task began.
    """

    def __init__(self, query_id: str, number: int, requested: str, content: WrittenFiles | TaskDigest) -> None:
        self.batch = query_id, number
        self.requested = requested
        self.content = content


@dataclass(frozen=True)
class Place:
    """The streaming query, batch number and query run to which a Spark task belongs."""

    query_id: str
    number: int
    run: str

    @property
    def batch_id(self) -> str:
        return batch_id_of(self.query_id, self.number)


def stream_writer(schema: StructType, overwrite: bool, options: WriteOptions) -> DataSourceStreamArrowWriter:
    """Return the object through which Spark writes a stream to a table. Raises `BadInput` or `Unsupported` if the
    options do not allow streaming writes.
    """
    asked = f"write a stream to {options.path}"
    if overwrite:
        remedy = 'use outputMode("append"), or foreachBatch(table.sink()) with outputMode("update")'
        raise Unsupported(asked, "the output mode complete would replace the table by each batch", remedy)
    if options.batch_id is not None:
        exists = "each batch of a stream is identified by the id of its query and its number"
        raise BadInput(f"{asked} with {BATCH_ID}={options.batch_id}", exists, "leave the option out")
    check_batch_id(None, options.replay_difference)
    writer = StreamWriter(from_spark(schema), options)
    writer.look_for_witness()
    return writer


class StreamWriter(DataSourceStreamArrowWriter):
    """Upserts each micro-batch of a stream exactly once."""

    def __init__(self, columns: pa.Schema, options: WriteOptions) -> None:
        self._columns = columns
        self._options = options
        self._there: Witness | None = None

    def look_for_witness(self) -> None:
        """For a table in a local folder, choose a file that each task looks up to check that its executor can access
        the folder.

        A missing table is created on the driver, because executors without access to the folder would each create a
        separate table.
        """
        if in_local_folder(open_storage(self._options.path, self._options.storage)):
            storage = self._table().context.storage
            completed = [f"{FOLDER}/{instant.file_name}" for instant in self._table().context.active().completed[-1:]]
            self._there = witness(storage, [*completed, PROPERTIES])

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self, vars(self))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> BatchOfQuery:
        with in_words():
            check_shared(open_storage(self._options.path, self._options.storage), self._there)
            return self._written(iterator)

    def _written(self, iterator: Iterator[pa.RecordBatch]) -> BatchOfQuery:
        place, table = place_of_task(), self._table()
        context, config = table.context, table.config
        rows = checked_rows(iterator, self._options, config, table_shape(config, context.rules))
        heartbeats = heartbeats_of(context)
        try:
            requested = shared_request(
                replace(context, own_heartbeats=heartbeats), action_of(config), place.batch_id, place.run
            )
        except Repeated:
            digest = digest_of(rows if rows is not None else pa.table({}))
            return BatchOfQuery(place.query_id, place.number, "", TaskDigest(digest))
        try:
            written = self._writer(table, requested, place.batch_id).put(rows)
        finally:
            heartbeats.hand_over(requested, HAND_OVER_SECONDS)
        return BatchOfQuery(place.query_id, place.number, requested, written)

    def commit(self, messages: list[WriterCommitMessage | None], number: int) -> None:
        done = _of_one_batch(messages, number)
        table, batch_id = self._table(), batch_id_of(*done[0].batch)
        attempts = {each.requested for each in done} - {""}
        digests = [each.content for each in done if isinstance(each.content, TaskDigest)]
        if not digests:
            (requested,) = attempts
            self._writer(table, requested, batch_id).commit([each.content for each in done])
            forget_elected(table.context, batch_id)
            return
        # Another attempt completed before the last of these tasks asked for its instant.
        for requested in attempts:
            undo_own_write(table.context, requested, action_of(table.config))
        files = [file for each in done if isinstance(each.content, WrittenFiles) for file in each.content.files]
        there = repeated(table.context, table.context.active(), batch_id)
        assert there is not None, "a task has found the batch written"
        replay = RepeatedBatchWriter(table.context.storage, table.config, self._options, there)
        replay.commit([*digests, TaskDigest(digest_of_files(files))])

    def abort(self, messages: list[WriterCommitMessage | None], number: int) -> None:
        """Undo the micro-batch's instant if a task has requested it. If the abort fails, the instant's heartbeat
        expires, and a rollback undoes the instant.
        """
        done = [each for each in messages if isinstance(each, BatchOfQuery)]
        for requested in {each.requested for each in done} - {""}:
            self._writer(self._table(), requested, batch_id_of(*done[0].batch)).abort([])

    def _table(self) -> Table:
        """Open the table again, because its schema may have changed since the previous micro-batch."""
        storage = open_storage(self._options.path, self._options.storage)
        try:
            table = writable(self._options, self._columns)
        except BadInput as unfit:
            raise BadInput(
                f"write a stream to {storage.url}: {unfit.asked}",
                unfit.exists,
                f"{unfit.remedy}; if the table's columns have changed since the query began, stop the query, change"
                " what it selects, and start it with the same checkpoint",
            ) from None
        if decides_without_lock(table.context) and table.config.concurrency_mode == OPTIMISTIC:
            raise Unsupported(
                f"write a stream to {storage.url}",
                "its writers are optimistic and take no lock, so that the time of a request does not order it among"
                " the commits",
                "use foreachBatch(table.sink())",
            )
        return table

    def _writer(self, table: Table, requested: str, batch_id: str) -> BatchWriter:
        context, config = table.context, table.config
        at_request = context.active().until(requested)
        task = replace(write_task(context, config, requested, at_request), digests=True)
        return BatchWriter(context.storage, config, replace(self._options, batch_id=batch_id), task, at_request)


def place_of_task() -> Place:
    """Return the batch of the running Spark task. Raises `Unsupported` if the task's local properties do not identify
    the batch.
    """
    here = TaskContext.get()
    values = [here.getLocalProperty(name) if here else None for name in (QUERY_ID, BATCH_NUMBER, RUN)]
    query_id, number, run = values
    if not query_id or not number or not run:
        raise Unsupported(
            "write a batch of a stream",
            f"the task does not have the local properties {QUERY_ID}, {BATCH_NUMBER} and {RUN}",
            "use foreachBatch(table.sink(query_id=...))",
        )
    return Place(query_id, int(number), run)


def heartbeats_of(context: Context) -> StoredHeartbeats:
    """Return the heartbeats that this Python worker renews for the table of `context`. All tasks of the worker use the
    same heartbeats.
    """
    url = context.storage.url
    if url not in _HEARTBEATS:
        _HEARTBEATS[url] = StoredHeartbeats(context.storage, *context.heartbeat_interval)
    return _HEARTBEATS[url]


_HEARTBEATS: Final[dict[str, StoredHeartbeats]] = {}
"""URL of a table -> the heartbeats that this worker renews. Workers live on from task to task."""


def _of_one_batch(messages: list[WriterCommitMessage | None], number: int) -> list[BatchOfQuery]:
    """Return the commit messages of all tasks. Raises `Unsupported` if a message is missing or belongs to another
    batch.
    """
    done = [each for each in messages if isinstance(each, BatchOfQuery)]
    batches = {each.batch for each in done}
    instants = {each.requested for each in done} - {""}
    if len(done) < len(messages) or len(batches) != 1 or next(iter(batches))[1] != number or len(instants) > 1:
        raise Unsupported(
            f"commit the batch {number} of a stream",
            f"its {len(messages)} tasks returned {len(done)} messages of {len(batches)} batches and {len(instants)}"
            " instants",
            "start the query again with the same checkpoint: nothing was published",
        )
    return done
