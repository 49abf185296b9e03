"""Delete rows by key, at an ordering value."""

from __future__ import annotations

from typing import Any

from ..batch import as_deletes
from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from .upsert import write


def run(context: Context, config: TableConfig, keys: Any, retries: int = 0) -> Instant:
    """Write a batch of deletes: rows of record key, partition and ordering columns; other columns do not matter.

    A delete is ranked like a row: in an event-time table it wins over what has no greater ordering value.
    `retries` as in `upsert`. Raises `BadInput`, nothing published then.
    """
    config.check_writable()
    fields = (*config.record_key, *config.partition_by)
    return write(context, config, as_deletes(keys, config.schema, fields, config.ordering), "DELETE", retries=retries)
