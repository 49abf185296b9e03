"""Reads the rows of all writes that had completed when the read began."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..reads.checkpointed import load_present
from ..reads.selection import Where, selection
from ..reads.tasks import selected, state_tasks


def run(
    context: Context,
    config: TableConfig,
    columns: Sequence[str] = (),
    where: Where | None = None,
    partitions: Collection[str] | None = None,
) -> Any:
    """Return the table's current rows, as of the greatest completion time on the timeline when the read starts.

    `columns` lists the columns to return (default: all). `where` is a condition on the merged rows; files and row
    groups without matching rows are skipped. `partitions` lists the paths of the partitions to read (default: all).
    Raises `BadInput` if a column is unknown, or if the condition is not valid for the types of its columns.
    """
    schema = table_shape(config, context.rules).stored_schema
    part = selection(config, schema, columns, where, partitions)
    loaded = load_present(context, _now(context))
    tasks = state_tasks(loaded.context, config, loaded.timeline)
    return context.jobs.read(
        part.tasks(loaded.context, config, loaded.timeline, tasks), selected(schema, part.columns)
    )


def _now(context: Context) -> str | None:
    return context.clock.take() if context.rules.read_time == "clock" else None
