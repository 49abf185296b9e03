"""Insert and update rows; rows with `_hoodie_is_deleted` delete."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..batch import as_upserts, refuse_other_rows
from ..commits import write_commit
from ..config import TableConfig
from ..conflicts import conflict_of
from ..context import Context
from ..data.tasks import WriteTask
from ..errors import Conflict
from ..shape import table_shape
from ..timeline import Instant, put_inflight
from ..writing import complete, request, taken_back_on_error

ACTION = "deltacommit"


def run(context: Context, config: TableConfig, data: Any, retries: int = 0) -> Instant:
    """Write a batch into log files of an instant of its own, beside whoever else writes (RFC-66).

    An optimistic writer raises `Conflict` if a write of the same buckets completed since it began (RFC-22); nothing of
    its own is left then. `retries`: how often it tries again first, each time as a new instant.

    Several rows of a key are combined by rank. A batch without rows makes a commit without files, as in Hudi
    (hoodie.allow.empty.commit): whoever waits for the instant gets one. Raises `BadInput`, nothing published then.
    """
    config.check_writable()
    return write(context, config, as_upserts(data, config.schema), "UPSERT", retries)


def write(context: Context, config: TableConfig, data: Any, operation: str, retries: int = 0) -> Instant:
    """Every write of a batch that already has the table's columns."""
    refuse_other_rows(data, context.jobs)
    while True:
        try:
            return _attempt(context, config, data, operation)
        except Conflict as conflict:
            if conflict.against is None or retries < 1:
                raise
            retries -= 1


def _attempt(context: Context, config: TableConfig, data: Any, operation: str) -> Instant:
    """The steps of one attempt, under an instant of its own."""
    shape = table_shape(config, context.rules)
    requested, sealed = request(context, ACTION)
    with taken_back_on_error(context, requested, ACTION):
        put_inflight(context.storage, requested, ACTION)
        files = context.jobs.write(data, WriteTask(shape, requested, config.max_log_bytes))
    commit = write_commit(config, requested, operation, files)
    conflict = partial(conflict_of, context, config, requested, files, sealed)
    return complete(context, requested, ACTION, files=files, commit=commit, refused_by=conflict)
