"""Lists the partitions that were replaced in a time interval, with the times of the replacing writes.

The entries are ordered by completion time and partition.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.times import Time
from ..reads.windows import ReplacedPartition, refuse_unanswerable, replaced_partitions, settled_window

ASKED = "read what was replaced"


def run(context: Context, config: TableConfig, after: Time, until: Time | None = None) -> tuple[ReplacedPartition, ...]:
    """Return the partitions replaced in (after, until], each with the requested and completion times of the
    replacing write.

    Before merging the result of an incremental query, a consumer must delete the rows of the replaced partitions
    from its copy of the table. If a replacing write was pending when a consumer last updated its copy of the table,
    the consumer must rebuild the copy from a snapshot.
    """
    window = settled_window(context, after, until, ASKED)
    refuse_unanswerable(context, window)
    return tuple(replaced_partitions(context, window))
