"""Runs the Structured Streaming queries of a history on the engine: the table as source, and a sink table for each
query.

The model simulates Spark's part in a query: the offset log, the commit log and restarts. Each query requests offsets
and rows from the engine as Spark does, and sends each batch to the sink table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.actions import incremental, timeline
from nbcc.engine.config import TableConfig, to_properties
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs, run_read
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import Conflict
from nbcc.engine.reads.times import BEGINNING
from nbcc.engine.rules import NBCC
from nbcc.engine.services.consumers import progress_of_consumers
from nbcc.engine.stream import StreamSink
from nbcc.engine.stream_source import Offset, StreamSource
from nbcc.engine.table import Table
from nbcc.engine.timeline import completion_of
from nbcc.engine.writes.idempotency import EXTRA
from nbcc.model import Query
from nbcc.model.mechanisms.streams import (
    STREAM_CHOOSES_OFFSET,
    STREAM_COMMITS_BATCH,
    STREAM_IS_REFUSED,
    STREAM_SENDS_BATCH,
    SparkCheckpoint,
    Stream,
)

from ..control.clock import ActorsClock, VirtualClock, instant_of, tick_of
from ..control.harness import ControlledNames
from ..control.heartbeats import ControlledHeartbeats, VirtualHeartbeats
from ..control.lock import ObserversLock
from ..control.storage import MemoryStorage
from .rows import from_rows

WINDOW: Final = Query("incremental")
SOURCE_TIME: Final = "written"
"""The column of a sink with the requested time of the write whose row was read."""

META: Final = "_hoodie_"
_FLAG: Final = "_hoodie_is_deleted"


class EngineStreams:
    """Runs the Structured Streaming queries of a simulated history on the engine. The queries read the table of
    ``context``.
    """

    def __init__(self, context: Context, config: TableConfig) -> None:
        self._context = context
        self._config = config
        self._sinks: dict[str, SinkTable] = {}

    def step(self, actor: str, action: str, own: Stream) -> Mapping[str, Any]:
        """Perform one step of a Structured Streaming query on the engine. ``own`` is the query's state in the model
        before the step. Return the observed results, such as ``offset`` and ``progress``, for comparison with the
        model.
        """
        source, checkpoint = StreamSource(self._context, consumer=actor), own.checkpoint
        if actor not in self._sinks:
            self._sinks[actor] = SinkTable(actor, self._config)
        sink = self._sinks[actor]
        observed: dict[str, Any] = {}
        if action == STREAM_CHOOSES_OFFSET:
            begin = _offset(checkpoint.ends[-1]) if checkpoint.ends else source.first_offset(BEGINNING)
            observed["offset"] = _tick(source.next_offset(begin))
        elif action in (STREAM_SENDS_BATCH, STREAM_IS_REFUSED):
            rows = self._window(source, checkpoint)
            observed["window"] = from_rows(rows.to_pylist(), WINDOW)
            observed["refused"] = sink.refuses(rows, checkpoint)
            observed["sink"] = sink.batches()
        elif action == STREAM_COMMITS_BATCH:
            source.commit(_offset(checkpoint.ends[-1]))
        progress = progress_of_consumers(self._context).get(actor, BEGINNING)
        return observed | {"progress": _tick({"completed": progress})}

    def _window(self, source: StreamSource, checkpoint: SparkCheckpoint) -> pa.Table:
        begin, end = (_offset(time) for time in (0, *checkpoint.ends)[-2:])
        tasks, schema = source.tasks(self._config, begin, end)
        return pa.concat_tables([schema.empty_table(), *(run_read(self._context.storage, task) for task in tasks)])


class SinkTable:
    """An in-memory table to which one Structured Streaming query sends its batches."""

    def __init__(self, stream: str, source: TableConfig) -> None:
        schema = source.schema.append(pa.field(SOURCE_TIME, pa.string()))
        self._config = replace(source, schema=schema, partition_by=(), merge_mode="EVENT_TIME_ORDERING")
        storage, names = MemoryStorage(), ControlledNames(stream, 1)
        storage.put_if_absent(PROPERTIES, encode_properties(to_properties(self._config)))
        clock, heartbeats = ActorsClock(VirtualClock()), ControlledHeartbeats(VirtualHeartbeats(), stream)
        jobs = InProcessJobs(storage, names)
        self._context = Context(storage, ObserversLock(), clock, names, jobs, NBCC, own_heartbeats=heartbeats)
        self._batches: dict[str, tuple[str, tuple[Any, ...]]] = {}  # completion time -> its batch

    def refuses(self, rows: pa.Table, checkpoint: SparkCheckpoint) -> bool:
        """Send a batch to the sink, and return True if the sink refuses the batch."""
        columns = [name for name in rows.column_names if not name.startswith(META) or name == _FLAG]
        batch = rows.select(columns).append_column(SOURCE_TIME, rows["_hoodie_commit_time"].cast(pa.string()))
        sink = StreamSink(Table(self._context, self._config), query_id=f"query {checkpoint.query}")
        try:
            sink(batch, len(checkpoint.ends) - 1)
        except Conflict:
            return True
        return False

    def batches(self) -> tuple[Any, ...]:
        """Return ``(id, rows)`` of each batch that the sink table contains, sorted by id."""
        context = self._context
        completed = sorted((completion_of(each), each) for each in timeline.run(context, self._config))
        times = [BEGINNING, *(time for time, _ in completed)]
        for (after, until), (_, instant) in zip(pairwise(times), completed, strict=True):
            if until not in self._batches:
                rows = incremental.run(context, self._config, after=after, until=until)
                name = context.commits.commit(instant).extra.get(EXTRA, "")
                self._batches[until] = name, _canonical(rows)
        return tuple(sorted(self._batches.values()))


def _canonical(rows: pa.Table) -> tuple[Any, ...]:
    """Return the rows of a sink batch as rows of the source table. For a delete, the requested time is None, because a
    log stores only a delete's key and ordering value.
    """
    plain = rows.to_pylist()
    cells = from_rows(plain, WINDOW)
    times = {row["_hoodie_record_key"]: row[SOURCE_TIME] for row in plain}
    return tuple((*cell[:3], tick_of(times[cell[0]]) if times[cell[0]] else None) for cell in cells)


def _offset(time: int) -> Offset:
    return {"completed": instant_of(time) if time else BEGINNING, "start": BEGINNING}


def _tick(offset: Offset) -> int:
    return 0 if offset["completed"] == BEGINNING else tick_of(offset["completed"])
