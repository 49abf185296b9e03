"""The difference of two snapshots: of each key that changed, what it was and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.tasks import ChangesTask, ReadTask
from ..files.slices import to_read
from ..files.window import window_files, writes_between
from ..reading import log_inputs, read_task, slices_as_of
from ..shape import table_shape
from ..timeline import completion_of
from ..times import BEGINNING, Time
from ..windows import Window, settled_window

ASKED = "read what changed"


def run(context: Context, config: TableConfig, after: Time = BEGINNING, until: Time | None = None) -> Any:
    """The change log of (after, until]: op (i, u, d), completed, before, after; net, one row a key.

    Only file groups that a write of the window touched are read: services change no row (design.md §4, QUIET).
    """
    window = settled_window(context, after, until, ASKED)
    shape = table_shape(config, context.rules)
    return context.jobs.read(_tasks(context, config, window), shape.changes_schema)


def _tasks(context: Context, config: TableConfig, window: Window) -> list[ChangesTask]:
    timeline, rules = window.timeline, context.rules
    shape = table_shape(config, rules)
    written = window_files(timeline, context.commits, rules, window.after, window.until)
    if not written:
        return []
    before, after = (
        {piece.group: piece for piece in to_read(slices_as_of(context, timeline, time), rules)}
        for time in (window.after, window.until)
    )
    between = writes_between(timeline, context.commits, rules, window.after, window.until)
    completions = tuple((instant.requested, completion_of(instant)) for instant, _ in between)

    def state(found: Iterable[Any]) -> tuple[ReadTask, ...]:
        return tuple(read_task(piece, shape) for piece in found if piece is not None)

    return [
        ChangesTask(
            shape,
            state([before.get((group.partition, group.file_id))]),
            state([after.get((group.partition, group.file_id))]),
            log_inputs(group.logs),
            completions,
        )
        for group in written
    ]
