"""Reads the table as of a completion time.

The read returns the rows of all writes that had completed by the given time, with the columns that the table had at
that time (RFC-66, "Time travel query", by completion time). It rejects a time in the future, before the first commit,
or without a time zone. The *requested* time of a write is rejected, because it does not determine which writes were
visible.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..config import TableConfig
from ..config.schemas import config_at
from ..context import Context
from ..data.shape import table_shape
from ..reads.checkpointed import through_checkpoint
from ..reads.retention import archived_completions
from ..reads.selection import Where, selection
from ..reads.tasks import selected, state_tasks
from ..reads.times import Time, instant_of
from ..reads.travel import refuse_before_first, refuse_requested_time, settled_at

ASKED = "read the table as of"


def run(
    context: Context,
    config: TableConfig,
    time: Time,
    columns: Sequence[str] = (),
    *,
    where: Where | None = None,
    partitions: Collection[str] | None = None,
) -> Any:
    """Return the rows of the table as of a completion time. Every call with the same time returns the same rows.

    `columns`, `where` and `partitions` have the same meaning as in `snapshot`.
    """
    at = instant_of(time, ASKED)
    using, timeline, _ = through_checkpoint(context, lambda using: settled_at(using, at, ASKED), at)
    refuse_requested_time(timeline, at, ASKED)
    refuse_before_first(timeline, at, ASKED, archived_completions(using, timeline))
    config = config_at(config, at)
    schema = table_shape(config, context.rules).stored_schema
    part = selection(config, schema, columns, where, partitions)
    tasks = part.tasks(using, config, timeline, state_tasks(using, config, timeline, at))
    return context.jobs.read(tasks, selected(schema, part.columns))
