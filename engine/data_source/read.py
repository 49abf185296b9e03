"""Implements reads of the data source: plans one Spark partition for each file group, and applies pushed-down filters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from ..data.columns import conform
from ..data.jobs import PlannedReads
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
    """The plan of a read, made by `load()`: the read tasks, the schema of the result, and the table properties that the
    tasks need.

    `own` is True if the table is an nbcc table, in which the key of a row determines its file group.
    """

    storage: Storage
    tasks: tuple[AnyRead, ...]
    schema: pa.Schema
    shape: TableShape
    own: bool


def plan(options: ReadOptions) -> ReadPlan:
    """Return the plan of a read with the given options. Raises the same errors as `Table.open` and the read methods of
    `Table`.
    """
    storage = open_storage(options.path, options.storage)
    context = dataclasses.replace(context_of(None, storage), jobs=PlannedReads())
    with temporary_limits(options.limits):
        return plan_of(open_table(context, options.opening), options)


def plan_of(table: Table, options: ReadOptions) -> ReadPlan:
    """Return the plan of a read of `table`. The table must have been opened with `PlannedReads` as its `jobs`."""
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
    """Raise `BadInput` unless the table has every column of the user's schema with the same type."""
    ours = {field.name: field.dataType for field in to_spark(read_plan.schema)}
    for field in schema:
        if ours.get(field.name) != field.dataType:
            column = ours.get(field.name)
            there = f"{field.name} is {column.simpleString()}" if column else "there is no such column"
            raise BadInput(
                f"read the column {field.name} {field.dataType.simpleString()}", there, "leave the schema out"
            )


class FileGroup(InputPartition):
    """A Spark partition that returns the rows of one read task."""

    def __init__(self, task: AnyRead) -> None:
        super().__init__(task)


class _Push:
    """A replacement for a reader's `pushFilters` method that hides the override from Spark.

    If spark.sql.python.filterPushdown.enabled is false (the default), Spark rejects readers that override
    `pushFilters`. Spark detects an override by the `__func__` attribute of the method `pushFilters`. If filter pushdown
    is disabled, Spark does not call `pushFilters`.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: GroupReader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        return self._reader.push(filters)


class GroupReader(DataSourceReader):
    """Reads one file group in each Spark task, and applies the accepted filters to merged rows before the rows are sent
    to the JVM. The accepted filters also let the reader skip file groups, base files and row groups without matching
    rows.
    """

    def __init__(self, read_plan: ReadPlan, schema: StructType) -> None:
        self._plan = read_plan
        self._schema = from_spark(schema)
        self._accepted: list[Filter] = []
        self.pushFilters = _Push(self)  # type: ignore[method-assign]  # _Push says why

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self, {name: value for name, value in vars(self).items() if name != "pushFilters"})

    def push(self, filters: list[Filter]) -> Iterator[Filter]:
        """Accept the filters that have the same meaning in Arrow and Spark, and yield the rest for Spark to apply."""
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
