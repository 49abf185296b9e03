"""Rewrites every file group with its rows sorted by given columns.

In an nbcc table the bucket determines the file id, so clustering is implemented as a sorting compaction. Unlike Hudi's
clustering, nbcc's clustering does not replace file groups, because a replacement would hide logs that non-blocking
writers commit later.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..config import TableConfig
from ..context import Context
from ..data.columns import is_sortable
from ..errors import BadInput
from ..reads.tasks import selected
from ..timeline import Instant
from . import run_compaction, schedule_compaction


def run(context: Context, config: TableConfig, sort_by: Sequence[str]) -> Instant | None:
    """Compact the table into base files sorted by the columns `sort_by`. Returns None if there is nothing to
    compact.
    """
    config.check_writable()
    if not sort_by:
        raise BadInput("cluster the table", "no column is named to sort by", "name one, or use compact")
    for field in selected(config.schema, sort_by):
        if not is_sortable(field.type):
            asked = f"sort rows by the column {field.name!r}"
            raise BadInput(asked, f"values of type {field.type} have no order", "sort by other columns")
    planned = schedule_compaction.schedule(context, config, sort_by)
    return None if planned is None else run_compaction.run(context, config, planned)
