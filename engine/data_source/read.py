"""Reading through the data source: the plan of a read, one partition a file group, filters pushed down."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.types import StructType

from ..data.columns import conform
from ..data.jobs import run_read
from ..data.shape import table_shape
from ..data.tasks import AnyRead, TableShape
from ..errors import BadInput, Unsupported
from ..reads.tasks import selected
from ..schema import from_spark, to_spark
from ..spark.worker import keep_loaded
from ..storage import Storage, open_storage
from ..table import Table, open_table
from ..wiring import context_of
from .filters import may_hold, pushable
from .options import ReadOptions

BATCH_ROWS: Final = 1 << 16


class Planned(NamedTuple):
    """A read as it was settled at `load()`: its tasks, the columns asked for, all columns of the tasks' results."""

    storage: Storage
    tasks: tuple[AnyRead, ...]
    schema: pa.Schema
    shape: TableShape
    own: bool


class PlanOnly:
    """Jobs that do nothing: what an operation would read is handed back to be read by Spark's tasks."""

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


def plan(options: ReadOptions) -> Planned:
    """What the options ask for, settled now. Raises what opening the table and the operation of that name raise."""
    storage = open_storage(options.path, options.storage)
    table = open_table(dataclasses.replace(context_of(None, storage), jobs=PlanOnly()))
    tasks, schema = _operation(table, options)
    own = table.config.own
    return Planned(
        storage, tasks, selected(schema, options.columns), table_shape(table.config, table.context.rules), own
    )


def _operation(table: Table, options: ReadOptions) -> Any:
    if options.query == "incremental":
        read = table.changes if options.changes else table.incremental
        return read(options.after, options.until)
    if options.query == "read_optimized":
        return table.read_optimized()
    return table.snapshot() if options.as_of is None else table.as_of(options.as_of)


def check_schema(schema: StructType, planned: Planned) -> None:
    """`BadInput` if a schema given by hand is not the table's, or some columns of it."""
    ours = {field.name: field.dataType for field in to_spark(planned.schema)}
    for field in schema:
        if ours.get(field.name) != field.dataType:
            there = f"{field.name} is {ours[field.name].simpleString()}" if field.name in ours else "there is none"
            raise BadInput(
                f"read the column {field.name} {field.dataType.simpleString()}", there, "leave the schema out"
            )


class FileGroup(InputPartition):
    """The rows of one task."""

    def __init__(self, task: AnyRead) -> None:
        super().__init__(task)


class _Push:
    """`pushFilters`, hidden from a check of Spark's.

    Spark refuses a reader with a `pushFilters` of its own while spark.sql.python.filterPushdown.enabled is off, and off
    is the default; it goes by the function below a method. Where the setting is off it never calls this.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        return self._reader.push(filters)


class Reader(DataSourceReader):
    """One task a file group; the filters that can be are applied to merged rows, before they cross to the JVM."""

    def __init__(self, planned: Planned, schema: StructType) -> None:
        self._planned = planned
        self._schema = from_spark(schema)
        self._filters: list[Filter] = []
        self.pushFilters = _Push(self)  # type: ignore[method-assign]  # _Push says why

    def push(self, filters: list[Filter]) -> Iterator[Filter]:
        """Keep what can be done here, give back what Spark has to do."""
        schema = self._planned.schema
        for each in filters:
            if pushable(each, schema) is None:
                yield each
            else:
                self._filters.append(each)

    def partitions(self) -> Sequence[InputPartition]:
        planned = self._planned
        known = planned.shape if planned.own else None
        return [FileGroup(task) for task in planned.tasks if may_hold(task, self._filters, known)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark's partition of a read that has none
            return
        rows = run_read(self._planned.storage, partition.value)
        for each in self._filters:
            mask = pushable(each, rows.schema)
            assert mask is not None, f"{each} was taken"
            rows = rows.filter(mask(rows))
        yield from conform(rows, self._schema).to_batches(BATCH_ROWS)
        keep_loaded()


class RefusedStream(DataSourceStreamReader):
    """A stream that refuses to start.

    It is not refused when it is made: Spark's runner of streams would then report an error of its own.
    """

    def initialOffset(self) -> dict[str, str]:
        raise Unsupported(
            "read a stream with the format nbcc",
            "the format reads snapshots and windows, not streams",
            "read the window after the last one that you have processed: Table.incremental",
        )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        raise AssertionError("the stream did not start")
