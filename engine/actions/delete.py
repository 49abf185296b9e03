"""Delete rows by key, at an ordering value."""

from __future__ import annotations

from typing import Any

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from ..writes.batch import as_deletes
from ..writes.idempotency import Batch, check
from .upsert import write


def run(
    context: Context,
    config: TableConfig,
    keys: Any,
    *,
    retries: int = 0,
    batch_id: str | None = None,
    replay_difference: str = "refuse",
) -> Instant:
    """Write a batch of deletes: rows with the record key, partition and ordering columns; other columns are ignored.

    A delete ranks like a row. In an event-time table a delete wins over records with the same or a smaller ordering
    value. `retries`, `batch_id` and `replay_difference` are as in `upsert`. Raises `BadInput`, with nothing published.
    """
    config.check_writable()
    check(batch_id, replay_difference)
    named = (*config.record_key, *config.partition_by)
    deletes = as_deletes(keys, config.schema, named, config.ordering, config.session_time_zone)
    batch = Batch(batch_id, replay_difference)
    return write(context, config, deletes, "DELETE", retries=retries, batch=batch)
