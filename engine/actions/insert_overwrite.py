"""Replaces all rows of partitions with new rows.

Rows of writes that complete after the overwrite was requested are merged with the new rows. The overwrite neither waits
for other writers nor aborts them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..errors import Unsupported
from ..services.replacing import replace_partitions
from ..timeline import Instant
from ..writes.batch import as_upserts, named_paths, partitions_of, refuse_other_rows

OPERATION = "INSERT_OVERWRITE"


def run(
    context: Context, config: TableConfig, data: Any, *, partitions: Collection[str] | None = None
) -> Instant:
    """Replace whole partitions with the rows in `data`: the partitions that occur in `data`, and those whose paths
    are in `partitions`.

    The completed overwrite hides all rows of the replaced partitions that were committed before the overwrite was
    requested. Writes that were pending when the overwrite was requested become visible when they complete. Raises
    `Conflict` while a compaction or another replacing write of one of the partitions is pending.
    """
    config.check_writable()
    refuse_index(config)
    rows = as_upserts(data, config)
    refuse_other_rows(rows, context.jobs)
    named = partitions_of(rows, config) if partitions is None else named_paths(partitions, config)
    return replace_partitions(context, config, named, rows, OPERATION)


def refuse_index(config: TableConfig) -> None:
    """Raise `Unsupported` if the table has a record index."""
    if config.record_index is not None:
        exists = "it would insert keys without their locations in the table's record index"
        raise Unsupported("overwrite partitions", exists, "delete the partition, and load it by Table.bulk_insert")
