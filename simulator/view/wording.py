"""Helpers that phrase the sentences on a trace's page, such as the text for a row and its writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nbcc.model import Model, Protocol, Record
from nbcc.model.answers import Data

from .content import Parts
from .files import FileStates
from .rows import Example, Put


class PageContext(NamedTuple):
    """A run under one protocol, and the example (read and rows) that the page explains."""

    model: Model
    states: Sequence[Any]
    case: Example
    puts: Sequence[Put]
    files: FileStates

    @property
    def protocol(self) -> Protocol:
        return self.model.protocol


def published_at(context: PageContext, requested: int | None) -> int | None:
    """Return the step that completes the instant with the given requested time, or None if no step completes it."""
    steps = range(len(context.states))
    return next((step for step in steps if completed_at(context, step, requested) is not None), None)


def completed_at(context: PageContext, step: int, requested: int | None) -> int | None:
    """Return the completion time of an instant on the timeline after a step, or None if the instant is not completed.
    """
    timeline = context.model.timeline(context.states[step])
    return next((each.completed for each in timeline if each.requested == requested), None)


def lost_row(context: PageContext, must: Record | None, got: Record | None) -> Record:
    """Return the row to explain: a row that the read wrongly omits or wrongly returns."""
    if must is None or (got is not None and _intrudes(context, got)):
        assert got is not None, "two absent rows do not differ"
        return got
    return must


def _intrudes(context: PageContext, got: Record) -> bool:
    """True if the write of the row `got` must be invisible to the read, for example because it is not completed."""
    completed = completed_at(context, len(context.states) - 1, got.requested)
    until = context.case.reading.query.until
    return context.case.reading.stable or completed is None or (until is not None and completed > until)


def wins_by_ordering(context: PageContext, lost: Record, got: Record) -> bool:
    """True if rows are merged by ordering value, and the row `lost` has the greater ordering value."""
    return context.model.merger.event_time and lost.ordering > got.ordering


def ranked(data: Data) -> bool:
    """True if the rows have different ordering values."""
    records = (record for files in data.values() for rows in files.values() for record in rows.values())
    return len({record.ordering for record in records}) > 1


def actor_of(context: PageContext, record: Record) -> str:
    """Return the actor that wrote a row."""
    return next(put.actor for put in context.puts if put.requested == record.requested)


def read_words(case: Example) -> str:
    """Return a read as text, such as `snapshot`, `read as of t5` or `incremental read (t2, t5]`."""
    kind, says = case.reading.query.kind, case.reading.words()
    if kind == "as_of":
        return f"read {says}"
    return says.replace(" ", " read ", 1) if kind in ("incremental", "changes") else says


def write_words(key: Any, record: Record) -> Parts:
    """Return the text of a row, such as `a=1`, or the key alone for a delete. The text is shown in the colour of the
    row's writer.
    """
    return [[str(key) if record.deleted else f"{key}={record.value}", record.requested]]


def row_words(key: Any, record: Record | None) -> Parts:
    """Describe what a read returned for one key, such as `a=1` or `nothing for a`."""
    if record is None or record.deleted:
        return [f"nothing for {key}"]
    return write_words(key, record)
