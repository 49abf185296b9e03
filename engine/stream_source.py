"""The Spark-independent part of the streaming source: determines the window of each batch, plans its reads, and
publishes the stream's progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from .actions import changes, replaced
from .config import TableConfig
from .context import Context
from .data.shape import table_shape
from .data.tasks import AnyRead
from .errors import Cleaned, Unsupported
from .files.window import writes_between
from .reads.times import BEGINNING
from .reads.travel import settled
from .reads.windows import Window, refuse_unanswerable, settled_window, window_tasks
from .services.consumers import publish_progress
from .timeline import Instant, completion_of

ASKED: Final = "stream from the table"
START: Final = "hoodie.datasource.streaming.startOffset"
"""The option of a stream with the time after which it begins."""

Offset = dict[str, str]
"""What Spark's offset log stores: `completed`, the completion time until which the stream has read, and `start`, the
time after which the stream began.
"""


@dataclass(frozen=True, slots=True)
class StreamSource:
    """The source of a streaming read from a table. For each micro-batch, the stream reader calls `next_offset`, then
    `tasks`, then `commit`.

    `changes` is True if the stream delivers the change log. `consumer` is the name under which the stream publishes its
    progress; if `consumer` is empty, the stream publishes no progress.
    """

    context: Context
    consumer: str = ""
    changes: bool = False

    def first_offset(self, start: str) -> Offset:
        """Return the offset of a new query that begins after the time `start`, and publish `start` as the stream's
        progress.
        """
        self._publish(start)
        return {"completed": start, "start": start}

    def next_offset(
        self, offset: Offset, most_files: int | None = None, most_bytes: int | None = None, last: str | None = None
    ) -> Offset:
        """Return the end offset of the next micro-batch, at most `last`. If no new write has completed, return `offset`
        unchanged.
        """
        return {**offset, "completed": end_of_next(self.context, offset["completed"], most_files, most_bytes, last)}

    def tasks(self, config: TableConfig, offset: Offset, end: Offset) -> tuple[Sequence[AnyRead], pa.Schema]:
        """Return the tasks that read the rows between two offsets, and the schema of these rows."""
        after = end["start"] if offset["completed"] == offset["start"] else offset["completed"]
        return stream_tasks(self.context, config, after, end["completed"], self.changes)

    def commit(self, end: Offset) -> None:
        """Publish `end` as the stream's progress, after the sink has written all rows up to `end`."""
        self._publish(end["completed"])

    def _publish(self, completed: str) -> None:
        if self.consumer:
            publish_progress(self.context, self.consumer, completed)


def offset_of(instant: Instant) -> str:
    """Return the offset of a completed write: its completion time."""
    return completion_of(instant)


def newest_write(context: Context) -> str:
    """Return the completion time of the newest write; `BEGINNING` if no write has completed."""
    timeline = settled(context)
    return timeline.greatest_completion or BEGINNING


def end_of_next(
    context: Context, after: str, most_files: int | None, most_bytes: int | None, last: str | None = None
) -> str:
    """Return the end of the next micro-batch's time window, which starts at `after`. Returns `after` if no write has
    completed since `after`.

    A window ends at the completion time of a write, not of a table service. No pending instant can later receive a
    completion time inside a window. A window contains at least one write, and ends before the write that would exceed
    `most_files` or `most_bytes`. A window never extends beyond `last`.
    """
    timeline = settled(context)
    newest = timeline.greatest_completion or BEGINNING
    newest = newest if last is None else min(newest, last)
    if newest <= after:
        return after
    answerable(context, Window(timeline, after, newest))
    end, files, size = after, 0, 0
    for instant, commit in sorted(
        writes_between(timeline, context.commits, context.rules, after, newest), key=lambda each: offset_of(each[0])
    ):
        files += len(commit.stats)
        size += sum(stat.size for stat in commit.stats)
        exceeds = (most_files is not None and files > most_files) or (most_bytes is not None and size > most_bytes)
        if exceeds and end != after:
            break
        end = offset_of(instant)
    return end


def answerable(context: Context, window: Window) -> None:
    """Raise `Cleaned` or `Unsupported` if the table can no longer return the rows written in `window`."""
    try:
        refuse_unanswerable(context, window)
    except Cleaned as cleaned:
        raise Cleaned(
            f"{ASKED}: {cleaned.asked}",
            cleaned.exists,
            f"rows of this stream are gone; {cleaned.remedy} as {START} of a new query with a new checkpoint, after a"
            " copy of Table.as_of that time. With the option consumer, cleaning waits for a query",
        ) from None


def stream_tasks(
    context: Context, config: TableConfig, after: str, until: str, change_log: bool
) -> tuple[Sequence[AnyRead], pa.Schema]:
    """Return the tasks that read the rows of all writes completed in (after, until], and the schema of these rows.

    The returned rows have the table's current columns. Raises `Unsupported` if `change_log` is False and a write in
    (after, until] replaced a partition. Only a change log can deliver the deletion of replaced rows.
    """
    shape = table_shape(config, context.rules)
    schema = shape.changes_schema if change_log else shape.window_schema
    if after == until:
        return (), schema
    window = settled_window(context, after, until, ASKED)
    answerable(context, window)
    if change_log:
        return changes.tasks_of(context, config, window), schema
    if replaces := replaced.run(context, config, after, until):
        raise Unsupported(
            f"{ASKED} the rows after {after} until {until}",
            f"the write {replaces[0].requested} replaced the partition {replaces[0].partition!r}, whose older rows do"
            " not count any more",
            "start a query with hoodie.datasource.query.incremental.format=cdc, which delivers them as deletes",
        )
    return list(window_tasks(context, config, window).values()), schema
