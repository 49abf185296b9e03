"""Reads the rows of all writes that had completed when the read began."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..reads.checkpointed import through_checkpoint
from ..reads.selection import Where, selection
from ..reads.tasks import selected, state_tasks
from ..reads.travel import settled


def run(
    context: Context,
    config: TableConfig,
    columns: Sequence[str] = (),
    *,
    where: Where | None = None,
    partitions: Collection[str] | None = None,
) -> Any:
    """Return the rows of the table as of the newest completion time (see `settled`). `columns` lists the columns to
    read and return (default: all).

    `where` is a pyarrow expression, or a list of triples (column, operator, value) that must all be true. Files and
    row groups without rows that match `where` are skipped. `partitions` lists the paths of the partitions to read
    (default: all).
    """
    schema = table_shape(config, context.rules).stored_schema
    part = selection(config, schema, columns, where, partitions)
    now = context.clock.take() if context.rules.read_time == "clock" else None
    loaded = through_checkpoint(context, lambda using: settled(using, now))
    tasks = state_tasks(loaded.context, config, loaded.timeline)
    return context.jobs.read(
        part.tasks(loaded.context, config, loaded.timeline, tasks), selected(schema, part.columns)
    )
