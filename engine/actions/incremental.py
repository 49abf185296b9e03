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
    """One record per key of the writes that completed in (after, until]: rows as in a snapshot, and deletes.

    `_hoodie_is_deleted` is true for a delete, which has key, partition and ordering value. A record may rank below an
    older record outside the window. A consumer that overwrites by key must use `changes`. The columns are those at the
    end of the window. (RFC-66, "Incremental queries".)
    """
    window = settled_window(context, after, until, ASKED)
    config = config if until is None else config_at(config, window.until)
    tasks = list(window_tasks(context, config, window).values())
    return context.jobs.read(tasks, table_shape(config, context.rules).window_schema)
