"""Converts a timeline into tasks that read the rows of a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches

import pyarrow as pa

from ..arguments import texts
from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import BaseInput, LogInput, ReadTask
from ..errors import BadInput
from ..files.group_files import BaseFile, LogFile, visible
from ..files.slices import FileSlice, all_slices, load_slices, merge_position, to_read
from ..rules import HUDI, Rules
from ..timeline import Instant
from ..timeline.history import Whole
from .retention import refuse_cleaned, refuse_undone


def slices_as_of(
    context: Context, timeline: Whole, time: str | None = None, *, with_absent: bool = False
) -> tuple[FileSlice, ...]:
    """Return all file slices as of `time`; if `time` is None, as of the end of `timeline`. `time` must be settled in
    `timeline`: no further instant can complete at or before `time`. `with_absent` is an argument of `all_slices`.

    Raises `Cleaned` if files that the read needs were deleted.
    """
    _refuse_lost(context, timeline, time)
    return load_slices(context.storage, timeline, context.commits, context.rules, time, with_absent=with_absent)


def _refuse_lost(context: Context, timeline: Whole, time: str | None, pinned: bool = False) -> None:
    if time is not None:
        refuse_undone(timeline, time, "read the table as of")
        refuse_cleaned(context, timeline, time, "read the table as of", pinned=pinned)


def state_tasks(
    context: Context, config: TableConfig, timeline: Whole, time: str | None = None
) -> tuple[ReadTask, ...]:
    """Return the tasks that read the table as of `time`, one for each file group. `time` may precede the horizon (the
    oldest readable time) if a savepoint retains the table's state at `time`.

    A file that a completed commit lists, and that a snapshot needs, is an input of its task even if it is missing: the
    task then raises `Missing`. Readers of Hudi that list folders return no row of such a file.
    """
    _refuse_lost(context, timeline, time, pinned=True)
    if context.rules.files == "listed":
        context.commits.fetch(i for i in timeline.completed if i.writes and visible(i, time, context.rules))
    # Another engine does not record which slices it has cleaned, so a file that only an as-of read needs may be absent.
    must_exist = not config.own and time is None
    slices = all_slices(context.storage, timeline, context.commits, context.rules, time, with_absent=must_exist)
    return tuple(
        read_task(piece, config, group_rules(context, timeline.find, piece.base.requested if piece.base else None))
        for piece in to_read(slices, context.rules)
        if piece.base or piece.logs
    )


def group_rules(context: Context, find: Callable[[str], Instant | None], base: str | None) -> Rules:
    """Return the merge rules of a file group whose base file has the requested time `base`. `find` returns the write
    with the given requested time.

    In an nbcc table, Hudi's rules apply to a file group whose base file another engine wrote (docs/contract.md,
    Assumptions). Other engines may drop deletes in a compaction, and may merge the logs of a file group by requested
    time.
    """
    looks = context.rules.files == "listed" and context.rules.unmarked == "by_its_engine"
    instant = find(base) if base and looks else None
    if instant is None or instant.completed is None or context.commits.commit(instant).own:
        return context.rules
    return with_foreign_base(context.rules)


def with_foreign_base(rules: Rules) -> Rules:
    """Return the rules by which an nbcc table merges a file group whose base file another engine wrote."""
    return replace(rules, fold=HUDI.fold, merge_order=HUDI.merge_order)


def read_task(piece: FileSlice, config: TableConfig, rules: Rules) -> ReadTask:
    base, size = (piece.base.path, piece.base.size) if piece.base else (None, None)
    tombstones, logs = (log_inputs(found) for found in in_merge_order(piece, rules))
    shape = table_shape(config, rules)
    return ReadTask(shape, piece.partition, piece.file_id, base, tombstones, logs, base_size=size)


def in_merge_order(piece: FileSlice, rules: Rules) -> tuple[list[LogFile], list[LogFile]]:
    """Return the tombstone logs and, in merge order, all other logs. If `rules.fold` is "logs_first", the first list is
    empty, and the tombstone logs are among the other logs.
    """
    first = rules.fold == "logs_first"
    logs = sorted((*piece.tombstones, *piece.logs) if first else piece.logs, key=lambda log: merge_position(log, rules))
    return [] if first else list(piece.tombstones), logs


def log_inputs(logs: Iterable[LogFile]) -> tuple[LogInput, ...]:
    return tuple(LogInput(log.path, log.requested, log.size, log.appended, checksum=log.checksum) for log in logs)


def base_input(base: BaseFile) -> BaseInput:
    return BaseInput(base.path, base.size)


def selected(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Return the schema of the given columns in the given order; the whole schema if `columns` is empty."""
    columns = texts(columns, f"take the columns {columns!r}")
    for name in columns:
        if name not in schema.names:
            near = get_close_matches(name, schema.names, 1)
            remedy = f"did you mean {near[0]!r}" if near else "name some of these"
            raise BadInput(f"read the columns {', '.join(columns)}", f"there are {', '.join(schema.names)}", remedy)
    return pa.schema([schema.field(name) for name in columns]) if columns else schema
