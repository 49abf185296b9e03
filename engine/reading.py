"""From a timeline to the tasks whose rows answer a read."""

from __future__ import annotations

from collections.abc import Iterable

from .config import TableConfig
from .context import Context
from .data.tasks import LogInput, ReadTask, TableShape
from .files.group_files import LogFile
from .files.slices import FileSlice, load_slices, to_read
from .retention import refuse_cleaned, refuse_unlisted
from .shape import table_shape
from .timeline import Timeline


def slices_as_of(context: Context, timeline: Timeline, time: str | None = None) -> tuple[FileSlice, ...]:
    """All file slices as of `time`, for which `timeline` must be settled; None: of all that it holds.

    Raises `Cleaned` and `Unsupported` where files of that time are gone or cannot be found.
    """
    refuse_unlisted(context, timeline, "look for the files of the table")
    if time is not None:
        refuse_cleaned(context, timeline, time, "read the table as of")
    return load_slices(context.storage, timeline, context.commits, context.rules, time)


def state_tasks(
    context: Context, config: TableConfig, timeline: Timeline, time: str | None = None
) -> tuple[ReadTask, ...]:
    """One task a file group; their rows are the table as of `time`."""
    shape = table_shape(config, context.rules)
    slices = to_read(slices_as_of(context, timeline, time), context.rules)
    return tuple(read_task(piece, shape) for piece in slices if piece.base or piece.logs)


def read_task(piece: FileSlice, shape: TableShape) -> ReadTask:
    """The merge of one slice."""
    base = piece.base.path if piece.base else None
    return ReadTask(shape, piece.partition, piece.file_id, base, log_inputs(piece.tombstones), log_inputs(piece.logs))


def log_inputs(logs: Iterable[LogFile]) -> tuple[LogInput, ...]:
    return tuple(LogInput(log.path, log.requested) for log in logs)
