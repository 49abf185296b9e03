"""Computes the difference between two snapshots: each changed key with its rows before and after.

The result has one row for each changed key. The read skips file groups without a write in the time interval, because
table services change no rows (docs/contract.md, QUIET). A row is returned even if only columns changed that are not
returned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import ChangesTask, ReadTask
from ..files.group_files import Group
from ..files.window import writes_between
from ..reads.selection import EVERYTHING, ReadSelection, Where, selection
from ..reads.tasks import state_tasks
from ..reads.times import Time
from ..reads.windows import (
    Window,
    groups_joined,
    refuse_replacements,
    replaced_partitions,
    settled_window,
    window_tasks,
)
from ..timeline import completion_of

ASKED = "read what changed"


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
    """Return the changes between the snapshots at `after` and `until`, with the columns op (i, u or d), completed,
    before and after.

    `columns` lists the columns of the table that `before` and `after` contain. `where` and `partitions` have the
    same meaning as in `snapshot`. A change is returned if its `before` row or its `after` row matches `where`.
    """
    window = settled_window(context, after, until, ASKED)
    shape = table_shape(config, context.rules)
    part = selection(config, shape.schema, columns, where, partitions)
    tasks = tasks_of(context, config, window, part)
    return context.jobs.read(tasks, shape.changes_schema_of(part.columns))


def tasks_of(
    context: Context, config: TableConfig, window: Window, part: ReadSelection = EVERYTHING
) -> list[ChangesTask]:
    """Return one task for each file group that was written in the time interval `window`. File groups that cannot
    contain a row selected by `part` are omitted.
    """
    refuse_replacements(context, window, clustering=True)
    written = window_tasks(context, config, window)
    kept = part.groups(written, config, table_shape(config, context.rules))
    # Saves the search for the files of both snapshots.
    if not kept:
        return []
    group_of = groups_joined(context, config, window)
    before, after = (_states(context, config, window, time, group_of) for time in (window.after, window.until))
    between = writes_between(window.timeline, context.commits, context.rules, window.after, window.until)
    # Base files of copy-on-write tables do not show deletes, so that a replace may not be what removed the row.
    replacing = replaced_partitions(context, window) if config.merge_on_read else ()
    replaced = {each.partition: each.completed for each in replacing}
    completions = tuple((instant.requested, completion_of(instant)) for instant, _ in between)
    return [
        ChangesTask(
            task.shape,
            before.get(group, ()),
            after.get(group, ()),
            task.logs,
            completions,
            task.bases,
            replaced.get(group[0]),
            columns=part.columns,
            where=part.where,
        )
        for group, task in written.items()
        if group in kept
    ]


def _states(
    context: Context, config: TableConfig, window: Window, time: str, group_of: Callable[[str, str], Group]
) -> dict[Group, tuple[ReadTask, ...]]:
    states: dict[Group, tuple[ReadTask, ...]] = {}
    for task in state_tasks(context, config, window.timeline, time):
        group = group_of(task.partition, task.file_id)
        states[group] = (*states.get(group, ()), task)
    return states
