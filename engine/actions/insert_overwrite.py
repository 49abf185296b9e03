"""Replaces all rows of partitions with new rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..services.replacing import replace_partitions
from ..timeline import Instant
from ..writes.batch import as_upserts, named_paths, partitions_of, refuse_other_rows

OPERATION = "INSERT_OVERWRITE"


def run(
    context: Context, config: TableConfig, data: Any, *, partitions: Collection[str] | None = None
) -> Instant:
    """Replace the rows of all partitions that occur in `data` with the rows of `data`. `partitions` lists the paths of
    further partitions whose rows are replaced even if `data` has no rows for these partitions.

    The completed overwrite hides a row in its partitions if the row's write completed before the overwrite was
    requested. Rows of writes that complete later are merged with the new rows. The overwrite neither waits for other
    writers nor aborts them.
    """
    config.check_writable()
    rows = as_upserts(data, config.schema, config.session_time_zone)
    refuse_other_rows(rows, context.jobs)
    named = partitions_of(rows, config) if partitions is None else named_paths(partitions, config)
    return replace_partitions(context, config, named, rows, OPERATION)
