"""Deletes rows by record key and ordering value.

In an event-time table, a delete loses to a record of the same key with a greater ordering value.
"""

from __future__ import annotations

from typing import Any

from ..config import TableConfig
from ..context import Context
from ..errors import BadInput
from ..timeline import Instant
from ..writes.batch import as_deletes
from ..writes.conflicts import NO_READS, ReadSet
from ..writes.data_write import write
from ..writes.idempotency import Batch, check_batch_id
from .newest_state import Condition, rows_at, state_of


def run(
    context: Context,
    config: TableConfig,
    keys: Any = None,
    *,
    where: Condition = None,
    retries: int = 0,
    batch_id: str | None = None,
    replay_difference: str = "refuse",
) -> Instant:
    """Delete the rows with the given `keys` (key, partition and ordering columns), except rows with a greater
    ordering value; or the rows that match `where` in the newest settled state T. `retries`, `batch_id` and
    `replay_difference` have the same meaning as in `upsert`, `where` the same as in `update`.

    With `where`, an optimistic writer raises `Conflict` if another write has completed since T. A non-blocking writer
    deletes blindly: a row that begins to match after T stays, and so does one whose ordering value has grown since T.
    """
    config.check_writable()
    check_batch_id(batch_id, replay_difference)
    named = (*config.record_key, *config.partition_by)
    read_set = NO_READS
    if (keys is None) == (where is None):
        given = "both keys and a condition are" if where is not None else "neither keys nor a condition is"
        raise BadInput("delete rows", f"{given} given", "give one of them")
    if where is not None:
        time = state_of(context)
        read_set = ReadSet(None, time)
        keys = rows_at(context, config, time, list(dict.fromkeys(config.always_set)), where)
    deletes = as_deletes(keys, config.schema, named, config.ordering, config.session_time_zone)
    batch = Batch(batch_id, replay_difference)
    return write(context, config, deletes, "DELETE", retries=retries, batch=batch, read_set=read_set)
