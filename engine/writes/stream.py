"""The sink of a stream. `foreachBatch` calls it with each batch, and again with one that may not have been written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..errors import BadInput

QUERY_ID: Final = "sql.streaming.queryId"
"""The local property in which Spark holds the id of the query whose batch the thread runs."""


@dataclass(frozen=True, slots=True)
class StreamSink:
    """Upserts each batch of a stream under the id ``<query id>/<number>``.

    The query id is in Spark's checkpoint: it stays the same over a restart. A new checkpoint begins a new query, which
    numbers other rows from 0 again, and has another id. `name` is a label for messages.
    """

    upsert: Callable[..., Any]
    name: str = ""
    query_id: str | None = None
    replay_difference: str = "refuse"

    def __call__(self, batch: Any, number: int) -> None:
        query_id = self.query_id if self.query_id is not None else query_id_of(batch)
        if not query_id:
            stream = f" of the stream {self.name!r}" if self.name else ""
            raise BadInput(
                f"write the batch {number}{stream}",
                "the id of its query is not readable here, as by Spark Connect or outside of foreachBatch",
                "give the sink an id that is new with each checkpoint: table.sink(query_id=...)",
            )
        self.upsert(batch, batch_id=f"{query_id}/{number}", replay_difference=self.replay_difference)


def query_id_of(batch: Any) -> str | None:
    """The id of the streaming query that has called `foreachBatch` with a DataFrame; None if it is not readable."""
    try:
        found = batch.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
    except AttributeError:  # also that of Spark Connect; a pyarrow Table has no session at all
        return None
    return found if isinstance(found, str) else None
