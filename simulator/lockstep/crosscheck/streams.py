"""The model's expected results for one step of a Structured Streaming query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model import Query, Step
from nbcc.model.mechanisms import streams
from nbcc.model.mechanisms.streams import (
    STREAM_CHOOSES_OFFSET,
    STREAM_COMMITS_BATCH,
    STREAM_IS_REFUSED,
    STREAM_SENDS_BATCH,
)

from ...observables import Batch, canonical_rows


def expected_of_stream(model: Any, before: Any, after: Any, step: Step, data: Mapping[int, Batch]) -> dict[str, Any]:
    """Return the offset, rows, error and sink batches that are expected after a step of a Structured Streaming query.

    The engine's sink recognises a resent batch by its rows, whereas the model recognises it by the writes that it
    contains. Therefore, the engine also accepts a batch that contains other writes but the same rows.
    """
    was: streams.Stream = model.component(before, step.actor)
    own: streams.Stream = model.component(after, step.actor)
    expected: dict[str, Any] = {}
    if step.action == STREAM_CHOOSES_OFFSET:
        expected["offset"] = own.next_end
    elif step.action in (STREAM_SENDS_BATCH, STREAM_IS_REFUSED):
        checkpoint = was.checkpoint
        window = streams.window_of(model.component(after, "published"), checkpoint)
        rows = rows_of_writes(model, after, window, data)
        there = next((each for each in was.sink if each[:2] == (checkpoint.query, len(checkpoint.ends))), None)
        same = there is not None and rows_of_writes(model, after, there.writes, data) == rows
        expected["window"] = rows
        expected["refused"] = step.action == STREAM_IS_REFUSED and not same
        batches = ((_id_of(batch), rows_of_writes(model, after, batch.writes, data)) for batch in own.sink)
        expected["sink"] = tuple(sorted((name, _in_logs(rows)) for name, rows in batches))
    return expected


def _id_of(batch: streams.SinkBatch) -> str:
    """Return the id under which the engine's sink commits a batch. Spark numbers batches from 0."""
    return f"query {batch.query}/{batch.number - 1}"


def _in_logs(rows: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return rows in the form in which the sink stores them: deletes have no requested time."""
    return tuple((*cells[:3], None if cells[2] is None else cells[3]) for cells in rows)


def rows_of_writes(model: Any, state: Any, writes: tuple[int, ...], data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """Return the expected rows of an incremental read over the given completed writes."""
    query = Query("incremental", after=0, until=streams.newest_offset(model.component(state, "published")))
    return canonical_rows(model.window_rows(state, writes, query, data))


def progress_after(step: Step, before: int, was: streams.Stream) -> int:
    """Return the offset that a Structured Streaming query has committed after a step; ``before`` is the offset before
    the step.
    """
    if step.action == STREAM_CHOOSES_OFFSET and not was.checkpoint.ends:
        return 0  # a new query begins
    return was.checkpoint.ends[-1] if step.action == STREAM_COMMITS_BATCH else before
