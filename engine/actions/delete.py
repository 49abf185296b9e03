"""Deletes rows by record key and ordering value."""

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
    """Write a batch of deletes. `keys` has the record key, partition and ordering columns of the rows to delete; all
    other columns are ignored.

    In an event-time table, a delete loses to a record of the same key with a greater ordering value.

    `retries`, `batch_id` and `replay_difference` have the same meaning as in `upsert`. Raises `BadInput` and publishes
    nothing if the batch is invalid.
    """
    config.check_writable()
    check(batch_id, replay_difference)
    named = (*config.record_key, *config.partition_by)
    deletes = as_deletes(keys, config.schema, named, config.ordering, config.session_time_zone)
    batch = Batch(batch_id, replay_difference)
    return write(context, config, deletes, "DELETE", retries=retries, batch=batch)
