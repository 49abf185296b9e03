"""The sink of a streaming query: a function for `foreachBatch`. Spark calls the sink for each batch, and repeats a
batch that may not have been written.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .actions.maintain import serve_writer
from .arguments import texts
from .config import TableConfig
from .config.maintenance import MaintenancePolicy
from .errors import BadInput
from .storage import Storage
from .wiring import context_of, coordinated
from .writes.idempotency import check_batch_id

if TYPE_CHECKING:
    from .table import Table

QUERY_ID: Final = "sql.streaming.queryId"
"""The local property in which Spark holds the id of the query whose batch the thread runs."""


@dataclass(frozen=True, slots=True)
class TableHandle:
    """A picklable description of an open table. Spark Connect pickles the sink, so the sink reopens the table in the
    session of each batch.
    """

    kind: type[Table]
    storage: Storage
    config: TableConfig

    def of(self, batch: Any) -> Table:
        context = coordinated(context_of(batch.sparkSession, self.storage), self.config)
        return self.kind(context, self.config)


@dataclass(frozen=True, slots=True)
class StreamSink:
    """Upserts each batch of a stream under the batch id ``<query id>/<number>``.

    The Spark checkpoint records the query id, so a restart of the query does not change the id. With a new checkpoint,
    Spark starts a new query with a new id and numbers batches from 0. `name` identifies the stream in error messages.
    `columns` lists the columns that the batches set (partial update). `maintenance` selects the table services that run
    after each batch.
    """

    table: Table | TableHandle
    name: str = ""
    query_id: str | None = None
    replay_difference: str = "refuse"
    columns: tuple[str, ...] | None = None
    maintenance: MaintenancePolicy | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        table = self.table
        sent = (
            table if isinstance(table, TableHandle)
            else TableHandle(type(table), table.context.storage, table.config)
        )  # fmt: skip
        arguments = sent, self.name, self.query_id, self.replay_difference, self.columns, self.maintenance
        from .spark.shipping import reduced_with_sources

        return reduced_with_sources(StreamSink, arguments)

    def __call__(self, batch: Any, number: int) -> None:
        query_id = self.query_id if self.query_id is not None else query_id_of(batch)
        if not query_id:
            raise _unreadable(f"the batch {number}", self.name, "it is readable inside foreachBatch alone")
        table = self.table.of(batch) if isinstance(self.table, TableHandle) else self.table
        table.upsert(
            batch,
            batch_id=batch_id_of(query_id, number),
            replay_difference=self.replay_difference,
            columns=self.columns,
        )
        if self.maintenance is not None:
            serve_writer(table.context, table.config, self.maintenance)


def sink_of(
    table: Table,
    name: str,
    query_id: str | None,
    replay_difference: str,
    columns: Collection[str] | None = None,
    maintenance: MaintenancePolicy | None = None,
) -> StreamSink:
    """Return a `StreamSink` for a table. Raises `BadInput` if `query_id` is None and the driver cannot read the query's
    id.
    """
    check_batch_id(query_id, replay_difference)
    if query_id is None and not getattr(table.context.jobs, "has_local_properties", True):
        raise _unreadable("batches", name, "Spark Connect shows no local properties")
    only = None if columns is None else tuple(texts(columns, "write a stream"))
    return StreamSink(table, name, query_id, replay_difference, only, maintenance)


def batch_id_of(query_id: str, number: int) -> str:
    """Return the batch id ``<query id>/<number>``. `foreachBatch` and the streaming data source use the same batch ids,
    so a query may switch from one to the other.
    """
    return f"{query_id}/{number}"


def query_id_of(batch: Any) -> str | None:
    """Return the id of the streaming query that passed `batch` to `foreachBatch`; None if the id is not readable."""
    try:
        found = batch.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
    except AttributeError:  # also that of Spark Connect; a pyarrow Table has no session at all
        return None
    return found if isinstance(found, str) else None


def _unreadable(batches: str, name: str, why: str) -> BadInput:
    stream = f" of the stream {name!r}" if name else ""
    remedy = "give the sink an id that is new with each checkpoint: table.sink(query_id=...)"
    return BadInput(f"write {batches}{stream}", f"the id of the query is not readable: {why}", remedy)
