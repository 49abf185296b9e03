"""Implements the streaming source, `spark.readStream.format("nbcc")`.

An offset contains a completion time and the start time of the stream. If Spark stops before the first micro-batch is
complete, a restart calls `initialOffset` again, which for "latest" would return a later time. Because each offset
contains the stream's start time, a restarted stream skips no writes. Spark's offset log stores the offset before the
first micro-batch runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from ..data.columns import IS_DELETED, conform
from ..data.shape import table_shape
from ..definition.load import with_current_schema
from ..errors import BadInput, Unsupported
from ..reads.tasks import selected
from ..reads.times import instant_of
from ..schema import from_spark
from ..spark.shared_disk import read_shared
from ..spark.shipping import reduced
from ..spark.worker import in_words, keep_loaded
from ..storage import open_storage
from ..stream_source import ASKED, Offset, StreamSource, newest_write
from ..table import Table, open_table
from ..wiring import context_of
from .options import FORMAT, QUERY
from .read import BATCH_ROWS, FileGroup
from .stream_options import StreamOptions


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a table as a stream. Spark creates one reader on the driver, and one reader for each micro-batch to read
    its partitions.
    """

    def __init__(self, options: StreamOptions, schema: StructType, own_columns: bool) -> None:
        """`own_columns` is True if the user has set the schema of the stream, which may have fewer columns than the
        table.
        """
        self._options = options
        self._columns = from_spark(schema)
        self._own_columns = own_columns
        self._last: str | None = None
        self._published: Offset | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self, {name: value for name, value in vars(self).items() if name != "_table"})

    @cached_property
    def _table(self) -> Table:
        context = context_of(None, open_storage(self._options.path, self._options.storage))
        return open_table(context, self._options.opening)

    @cached_property
    def _source(self) -> StreamSource:
        return StreamSource(self._table.context, self._options.consumer, self._options.changes)

    @cached_property
    def _first(self) -> str:
        start = self._options.start
        if isinstance(start, str) and start.lower() == "latest":
            return newest_write(self._table.context)
        return instant_of(start, ASKED)

    def initialOffset(self) -> Offset:
        self._published = self._source.first_offset(self._first)
        return self._published

    def getDefaultReadLimit(self) -> ReadLimit:
        if self._options.most_files is not None:
            return ReadMaxFiles(self._options.most_files)
        return ReadAllAvailable() if self._options.most_bytes is None else ReadMaxBytes(self._options.most_bytes)

    def prepareForTriggerAvailableNow(self) -> None:
        # Without this method Spark would end a restarted query after the batch that it repeats.
        self._last = newest_write(self._table.context)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        # Spark asks for the next batch only after the sink has the rows until `start`. Spark calls `commit` with the
        # same offset when it plans a next batch, which a query that ends never does.
        self._commit_once(start)
        files, size = self._options.most_files, self._options.most_bytes
        if self._last is not None or isinstance(limit, ReadAllAvailable):  # Trigger.AvailableNow, Trigger.Once
            files = size = None
        return self._source.next_offset(start, files, size, self._last)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        context = self._table.context
        config = with_current_schema(context.storage, self._table.config)
        shape = table_shape(config, context.rules)
        self._check_columns(shape.changes_schema if self._options.changes else shape.window_schema)
        tasks, _ = self._source.tasks(config, start, end)
        return [FileGroup(task) for task in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark makes one partition of an empty batch
            return
        with in_words():
            for rows in read_shared(open_storage(self._options.path, self._options.storage), partition.value):
                self._check_deletes(rows)
                yield from conform(rows, self._columns).to_batches(BATCH_ROWS)
        keep_loaded()

    def commit(self, end: Offset) -> None:
        self._commit_once(end)

    def _commit_once(self, end: Offset) -> None:
        if end != self._published:
            self._source.commit(end)
            self._published = end

    def _check_columns(self, there: pa.Schema) -> None:
        """Raise `BadInput` if the schema of the table has changed since the streaming query began."""
        if self._options.columns:
            there = selected(there, self._options.columns)
        names = [name for name in there.names if name in self._columns.names or name != IS_DELETED]
        expected = pa.schema([there.field(name) for name in names])
        if self._own_columns:
            expected = pa.schema([there.field(name) for name in self._columns.names if name in there.names])
        if {f.name: f.type for f in expected} == {f.name: f.type for f in self._columns}:
            return
        raise BadInput(
            f"{ASKED} the columns {', '.join(self._columns.names)}",
            f"the table's columns are {', '.join(there.names)} now",
            "stop the query and start it again with the same checkpoint: it takes the columns at its start",
        )

    def _check_deletes(self, rows: pa.Table) -> None:
        """Raise `Unsupported` if a row is a delete but the stream's schema lacks the column `_hoodie_is_deleted`."""
        if IS_DELETED in self._columns.names or IS_DELETED not in rows.column_names:
            return
        if pc.any(pc.fill_null(rows[IS_DELETED], False)).as_py():
            raise Unsupported(
                f"{ASKED} its rows without {IS_DELETED}",
                "a row was deleted, and nothing would show that",
                f"start the query with {QUERY}=incremental, which adds that column, or with {FORMAT}=cdc as well",
            )


def stream_schema(options: StreamOptions) -> pa.Schema:
    """Return the schema of a stream, which is derived from the table's present schema."""
    table = open_table(context_of(None, open_storage(options.path, options.storage)), options.opening)
    shape = table_shape(table.config, table.context.rules)
    whole = shape.changes_schema if options.changes else shape.window_schema
    return selected(whole, options.columns)
