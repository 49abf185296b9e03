"""The rows of every write that had completed when the read began."""

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
    """Return the table as of T, the greatest completion time in a first listing of the timeline. A second listing of
    the timeline shows every instant that completed at or before T.

    `columns` lists the columns to return; the read also reads the columns that the merge needs. `where` is a condition
    on the merged rows; data that cannot change the answer is skipped. `partitions` lists the paths of the partitions to
    read. Raises `BadInput` if a column is unknown, or if the condition does not fit the columns.
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
