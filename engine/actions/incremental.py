"""The merge of exactly the writes that completed in a window."""

from __future__ import annotations

from typing import Any

from ..config import TableConfig
from ..config.schemas import config_at
from ..context import Context
from ..data.shape import table_shape
from ..reads.times import BEGINNING, Time
from ..reads.windows import settled_window, window_tasks

ASKED = "read what was written"


def run(context: Context, config: TableConfig, after: Time = BEGINNING, until: Time | None = None) -> Any:
    """One record for each key of the writes that completed in (after, until]: a row as in a snapshot, or a delete.

    `_hoodie_is_deleted` is true for a delete, whose other columns are null except key, partition and ordering value.
    The returned record may rank below an older record of its key that is outside the window. A consumer that overwrites
    its rows by key must use `changes` instead. The columns are the table's columns at the end of the window. (RFC-66,
    "Incremental queries".)
    """
    window = settled_window(context, after, until, ASKED)
    config = config if until is None else config_at(config, window.until)
    tasks = list(window_tasks(context, config, window).values())
    return context.jobs.read(tasks, table_shape(config, context.rules).window_schema)
