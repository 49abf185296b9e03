"""Reads the merged records of the writes that completed in a time interval.

The query ignores writes that completed up to the start of the interval, although a record of such a write may win in a
snapshot query. A consumer that keeps a copy of the table must therefore use `changes` instead. The result has the
columns that the table had at the end of the interval (RFC-66, "Incremental queries"). A condition applies to the
returned records. If a write changes a row so that the row no longer matches, `incremental` returns no record of the
row, whereas `changes` returns one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ..config import TableConfig
from ..config.schemas import config_at
from ..context import Context
from ..data.shape import table_shape
from ..reads.selection import RangesOfLogs, Where, selection
from ..reads.tasks import selected
from ..reads.times import Time
from ..reads.windows import settled_window, window_tasks

ASKED = "read what was written"


def run(
    context: Context,
    config: TableConfig,
    after: Time,
    until: Time | None = None,
    columns: Sequence[str] = (),
    *,
    where: Where | None = None,
    partitions: Collection[str] | None = None,
) -> Any:
    """Return the merged records of the writes that completed in (after, until]. In rows that represent deletes,
    `_hoodie_is_deleted` is true.

    After partial updates, the result can contain several records of a key; `nbcc_set_columns` lists the columns set
    by each record. `columns`, `where` and `partitions` have the same meaning as in `snapshot`. Deletes have null in
    all columns except key, partition and ordering columns, so most conditions in `where` do not match deletes.
    """
    window = settled_window(context, after, until, ASKED)
    config = config if until is None else config_at(config, window.until)
    shape = table_shape(config, context.rules)
    part = selection(config, shape.window_schema, columns, where, partitions)
    tasks = window_tasks(context, config, window)
    kept = part.groups(tasks, config, shape)
    ranges = RangesOfLogs(context, window.timeline)
    skips = part.skips(context)
    wanted = [
        replace(
            task, columns=part.columns, where=part.where, logs=ranges.of(task.logs) if skips else task.logs
        )
        for group, task in tasks.items()
        if group in kept
    ]
    return context.jobs.read(wanted, selected(shape.window_schema, part.columns))
