"""Reads the state from which an update, delete or merge is computed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ..arguments import is_of
from ..config import TableConfig
from ..context import Context
from ..data.jobs import InProcessJobs
from ..reads.travel import settled
from . import as_of

Condition: TypeAlias = Any
"""A condition of a read (`reads.selection.Where`). With Spark, also a Column, or a condition of SQL as a text."""


def state_of(context: Context) -> str | None:
    """Return the newest settled time, at which the rows are read; None if no write has completed."""
    return settled(context).greatest_completion


def rows_at(
    context: Context,
    config: TableConfig,
    time: str | None,
    columns: Sequence[str] = (),
    where: Condition = None,
    partitions: Collection[str] | None = None,
) -> Any:
    """Return the rows as of `time` without Hudi's meta columns, as a DataFrame if the table was opened with Spark. At
    the time None the table has no rows.
    """
    wanted = list(columns) or config.schema.names
    # All columns are read first, because a condition of SQL may name columns that are not wanted.
    if time is not None and by_spark(context, where):
        return as_of.run(context, config, time, config.schema.names, partitions=partitions).where(where).select(*wanted)
    if time is not None:
        return as_of.run(context, config, time, wanted, where=where, partitions=partitions)
    return context.jobs.read([], pa.schema([config.schema.field(name) for name in wanted]))


def by_spark(context: Context, where: Condition) -> bool:
    """Return whether Spark evaluates the condition."""
    return (isinstance(where, str) or is_of("pyspark", where)) and not isinstance(context.jobs, InProcessJobs)


def is_empty(rows: Any) -> bool:
    return len(rows) == 0 if isinstance(rows, pa.Table) else bool(rows.isEmpty())
