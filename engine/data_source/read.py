"""Reads tables through the data source: plans a read with one partition for each file group, and applies filters that
Spark pushes down.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from ..data.columns import conform
from ..data.predicate import Predicate
from ..data.shape import table_shape
from ..data.tasks import AnyRead, ChangesTask, TableShape
from ..errors import BadInput
from ..limits import temporary_limits
from ..reads.tasks import selected
from ..schema import from_spark, to_spark
from ..spark.shared_disk import read_shared
from ..spark.shipping import reduced
from ..spark.worker import in_words, keep_loaded
from ..storage import Storage, open_storage
from ..table import Table, open_table
from ..wiring import context_of
from .filters import condition_of, predicate_of, restricted
from .options import ReadOptions

BATCH_ROWS: Final = 1 << 16


class ReadPlan(NamedTuple):
    """The plan of a read, fixed at `load()`: its tasks, the schema of its result, and the shape of the table.

    `own` is True if nbcc created the table, so that the key of a row determines the file group of the row.
    """

    storage: Storage
    tasks: tuple[AnyRead, ...]
    schema: pa.Schema
    shape: TableShape
    own: bool


class PlanOnly:
    """Jobs that execute nothing. `read` returns the read tasks and their schema, and Spark's tasks execute the read
    tasks later.
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


def plan(options: ReadOptions) -> ReadPlan:
    """Return the plan of the read that the options request, at the present time. Raises the errors of `Table.open` and
    of the read.
    """
    storage = open_storage(options.path, options.storage)
    context = dataclasses.replace(context_of(None, storage), jobs=PlanOnly())
    with temporary_limits(options.limits):
        return plan_of(open_table(context, options.opening), options)


def plan_of(table: Table, options: ReadOptions) -> ReadPlan:
    """Return the plan of a read of `table`, whose jobs are `PlanOnly`."""
    tasks, schema = _operation(table, options)
    shape = table_shape(table.config, table.context.rules)
    return ReadPlan(
        table.context.storage, tasks, selected(schema, options.columns), shape, table.config.own
    )


def _operation(table: Table, options: ReadOptions) -> Any:
    if options.query == "incremental":
        if options.changes:
            return table.changes(options.after, options.until)
        return table.incremental(options.after, options.until, options.columns)
    if options.query == "read_optimized":
        return table.read_optimized(options.columns)
    if options.as_of is None:
        return table.snapshot(options.columns)
    return table.as_of(options.as_of, options.columns)


def check_schema(schema: StructType, read_plan: ReadPlan) -> None:
    """Raise `BadInput` unless the table has each column of the user's schema, with the same type."""
    ours = {field.name: field.dataType for field in to_spark(read_plan.schema)}
    for field in schema:
        if ours.get(field.name) != field.dataType:
            column = ours.get(field.name)
            there = f"{field.name} is {column.simpleString()}" if column else "there is no such column"
            raise BadInput(
                f"read the column {field.name} {field.dataType.simpleString()}", there, "leave the schema out"
            )


class FileGroup(InputPartition):
    """One partition of a read in Spark, which returns the rows of one read task."""

    def __init__(self, task: AnyRead) -> None:
        super().__init__(task)


class _Push:
    """A reader's `pushFilters` method, hidden from Spark's check for readers that override this method.

    If spark.sql.python.filterPushdown.enabled is off (the default), Spark refuses a reader that overrides
    `pushFilters`. Spark's check compares the `__func__` of the method `pushFilters`. If filter pushdown is off, Spark
    does not call a `_Push`.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        return self._reader.push(filters)


class Reader(DataSourceReader):
    """Reads one file group in each task, and applies accepted filters to merged rows before the rows are sent to the
    JVM. The reader also uses the accepted filters to skip file groups, base files and row groups without a selected
    row.
    """

    def __init__(self, read_plan: ReadPlan, schema: StructType) -> None:
        self._plan = read_plan
        self._schema = from_spark(schema)
        self._accepted: list[Filter] = []
        self.pushFilters = _Push(self)  # type: ignore[method-assign]  # _Push says why

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self, {name: value for name, value in vars(self).items() if name != "pushFilters"})

    def push(self, filters: list[Filter]) -> Iterator[Filter]:
        """Accept the filters that have the same meaning in Arrow; return all other filters, which Spark applies."""
        schema = self._plan.schema
        for each in filters:
            if condition_of(each, schema) is None:
                yield each
            else:
                self._accepted.append(each)

    @property
    def _where(self) -> Predicate | None:
        return predicate_of(self._accepted, self._plan.schema)

    def partitions(self) -> Sequence[InputPartition]:
        read_plan, where = self._plan, self._where
        if where is None:
            return [FileGroup(task) for task in read_plan.tasks]
        known = read_plan.shape if read_plan.own else None
        return [FileGroup(task) for task in restricted(read_plan.tasks, where, known)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark makes one partition if `partitions` returns none
            return
        where = self._where if isinstance(partition.value, ChangesTask) else None
        with in_words():
            for rows in read_shared(self._plan.storage, partition.value):
                matching = rows if where is None else where.filter(rows)
                yield from conform(matching, self._schema).to_batches(BATCH_ROWS)
        keep_loaded()
