"""The rows of every write that had completed when the read began."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..reads.checkpointed import load_present
from ..reads.tasks import selected, state_tasks


def run(context: Context, config: TableConfig, columns: Sequence[str] = ()) -> Any:
    """The table as of T, the greatest completion time in a first listing of the timeline. A second listing of the
    timeline shows every instant that completed at or before T.

    `columns`: the columns to return; the read also reads the columns that the merge needs. Raises `BadInput` if a
    column is unknown. (RFC-66, "Snapshot queries"; for the two listings: docs/contract.md, Words.)
    """
    schema = selected(table_shape(config, context.rules).stored_schema, columns)
    loaded = load_present(context, _now(context))
    tasks = state_tasks(loaded.context, config, loaded.timeline)
    return context.jobs.read([replace(task, columns=tuple(columns)) for task in tasks], schema)


def _now(context: Context) -> str | None:
    """The present time of the clock, for rules under which readers do not wait for settled times."""
    return context.clock.take() if context.rules.read_time == "clock" else None
