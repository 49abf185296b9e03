"""Insert and update rows; rows with `_hoodie_is_deleted` delete."""

from __future__ import annotations

from typing import Any

from ..batch import as_upserts, refuse_other_rows
from ..commits import write_commit
from ..config import TableConfig
from ..context import Context
from ..data.tasks import WriteTask
from ..shape import table_shape
from ..timeline import Instant, put_inflight
from ..writing import complete, request, taken_back_on_error

ACTION = "deltacommit"


def run(context: Context, config: TableConfig, data: Any) -> Instant:
    """Write a batch into log files of an instant of its own, beside whoever else writes (RFC-66).

    Several rows of a key are combined by rank. A batch without rows makes a commit without files, as in Hudi
    (hoodie.allow.empty.commit): whoever waits for the instant gets one. Raises `BadInput`, nothing published then.
    """
    config.check_writable()
    return write(context, config, as_upserts(data, config.schema), "UPSERT")


def write(context: Context, config: TableConfig, data: Any, operation: str) -> Instant:
    """The steps of every write of a batch that already has the table's columns."""
    refuse_other_rows(data, context.jobs)
    shape = table_shape(config, context.rules)
    requested = request(context, ACTION)
    with taken_back_on_error(context, requested, ACTION):
        put_inflight(context.storage, requested, ACTION)
        files = context.jobs.write(data, WriteTask(shape, requested, config.max_log_bytes))
    commit = write_commit(config, requested, operation, files)
    return complete(context, requested, ACTION, files=files, commit=commit)
