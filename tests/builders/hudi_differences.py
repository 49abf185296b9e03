"""Reproduces the known differences between the reads of Apache Hudi 1.2.0 and nbcc's contract. A caller selects
differences by their names.

For a table written by Hudi, nbcc's snapshot and read-optimized reads return the same rows as Hudi's. As-of and
incremental reads of a Hudi table by nbcc satisfy docs/contract.md; Hudi's own reads do not. If the caller selects all
differences, `hudi_as_of` and `hudi_incremental` return the same rows as Hudi.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nbcc.engine.config import TableConfig
from nbcc.engine.context import Context
from nbcc.engine.data.columns import IS_DELETED
from nbcc.engine.data.shape import table_shape
from nbcc.engine.files.group_files import Group
from nbcc.engine.files.slices import FileSlice, merge_position, pending_plans
from nbcc.engine.files.window import WindowFiles, window_files
from nbcc.engine.reads.tasks import read_task, slices_as_of
from nbcc.engine.reads.travel import settled
from nbcc.engine.reads.windows import Window, window_tasks


class Difference(NamedTuple):
    """One named difference between the rows that Hudi returns for one kind of read and the rows that nbcc promises."""

    name: str
    read: Literal["as_of", "incremental"]
    about: str


WRITES_BY_REQUESTED: Final = "writes by requested time"
BASES_BY_REQUESTED: Final = "base files by requested time"
REQUESTED_TIME_ANSWERED: Final = "a requested time is answered"
DELETES_LEFT_OUT: Final = "deletes left out"
PENDING_PLAN_HIDES: Final = "a pending plan hides late writes"

DIFFERENCES: Final = {
    difference.name: difference
    for difference in (
        Difference(
            WRITES_BY_REQUESTED,
            "as_of",
            "Hudi counts a write that was requested by the time asked for, although it completed later.",
        ),
        Difference(
            BASES_BY_REQUESTED,
            "as_of",
            "Hudi uses a base file whose compaction was requested by then, completed later, and forgot deletes.",
        ),
        Difference(
            REQUESTED_TIME_ANSWERED,
            "as_of",
            "Hudi answers at the requested time of a write, when no reader saw it; nbcc names its completion time.",
        ),
        Difference(DELETES_LEFT_OUT, "incremental", "Hudi's windows do not hold the keys that were deleted in them."),
        Difference(
            PENDING_PLAN_HIDES,
            "incremental",
            "Hudi's windows lack what was requested before, and completed after, a compaction plan that is pending.",
        ),
    )
}


def hudi_as_of(context: Context, config: TableConfig, time: str, differences: Collection[str]) -> Any:
    """Return the rows of a read as of `time` that deviates from nbcc's contract in the given `differences`. If
    `differences` is empty, the rows equal those of nbcc's as-of read.
    """
    timeline = settled(context)
    shape = table_shape(config, context.rules)
    tasks = []
    for _, pieces in groupby(slices_as_of(context, timeline), key=lambda piece: piece.group):
        read = _slice_as_of(context, list(pieces), time, differences)
        if read is not None:
            tasks.append(read_task(read, config, context.rules))
    return context.jobs.read(tasks, shape.stored_schema)


def _slice_as_of(
    context: Context, pieces: list[FileSlice], time: str, differences: Collection[str]
) -> FileSlice | None:
    """Return the slice of one file group that the as-of read uses; None if the read sees no file of the group. `pieces`
    contains the group's file slices, sorted by barrier.
    """
    base_by = "requested" if BASES_BY_REQUESTED in differences else "completed"
    if WRITES_BY_REQUESTED in differences:
        pieces = [piece for piece in pieces if (piece.barrier or "") <= time]
    based = [at for at, piece in enumerate(pieces) if piece.base and (getattr(piece.base, base_by) or "~") <= time]
    visible = pieces[based[-1] :] if based else pieces
    log_by = "requested" if WRITES_BY_REQUESTED in differences else "completed"
    logs = [log for piece in visible for log in piece.logs if (getattr(log, log_by) or "~") <= time]
    if not based and not logs:
        return None
    ordered = tuple(sorted(logs, key=lambda log: merge_position(log, context.rules)))
    return replace(visible[0], base=visible[0].base if based else None, logs=ordered)


def hudi_incremental(
    context: Context, config: TableConfig, after: str, until: str, differences: Collection[str]
) -> pa.Table:
    """Return the rows of an incremental read of (after, until] that deviates from nbcc's contract in the given
    `differences`. The jobs of `context` must run without Spark.
    """
    timeline = settled(context)
    window = Window(timeline, after, until)
    tasks = window_tasks(context, config, window)
    if PENDING_PLAN_HIDES in differences:
        for group, hidden in _hidden(context, window):
            tasks[group] = replace(tasks[group], logs=tuple(i for i in tasks[group].logs if i.path not in hidden))
    rows = context.jobs.read(list(tasks.values()), table_shape(config, context.rules).window_schema)
    if DELETES_LEFT_OUT in differences:
        rows = rows.filter(pc.invert(pc.fill_null(rows[IS_DELETED], False)))
    return rows


def _hidden(context: Context, window: Window) -> Iterator[tuple[Group, frozenset[str]]]:
    """For each file group, yield the logs that Hudi's incremental read omits because of a pending compaction plan.

    If a pending plan is newer than every requested time in the window, Hudi omits the logs that completed after the
    plan was requested.
    """
    files = window_files(window.timeline, context.commits, context.rules, window.after, window.until)
    newest = _newest_requested(files)
    plans = pending_plans(window.timeline, context.commits, context.rules)
    for group in files:
        for barrier in plans.get((group.partition, group.file_id), ()):
            if barrier > newest:
                late = (log.path for log in group.logs if (log.completed or "") >= barrier)
                yield (group.partition, group.file_id), frozenset(late)


def _newest_requested(files: Collection[WindowFiles]) -> str:
    logs = (log.requested for group in files for log in group.logs)
    bases = (base.requested for group in files for base in group.bases)
    return max((*logs, *bases), default="")
