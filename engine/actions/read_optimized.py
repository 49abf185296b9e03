"""Reads the newest base file of each file group.

The base files of different file groups may have different requested times, so the result may not be a snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..files.slices import newest_bases
from ..reads.selection import Where, selection
from ..reads.tasks import read_task, selected, slices_as_of
from ..reads.travel import settled


def run(
    context: Context,
    config: TableConfig,
    columns: Sequence[str] = (),
    *,
    where: Where | None = None,
    partitions: Collection[str] | None = None,
) -> Any:
    """Return the rows in the newest base file of each file group, without the writes since the last compaction.

    `columns`, `where` and `partitions` have the same meaning as in `snapshot`.
    """
    schema = table_shape(config, context.rules).stored_schema
    part = selection(config, schema, columns, where, partitions)
    timeline = settled(context)
    bases = newest_bases(slices_as_of(context, timeline, with_absent=not config.own))
    tasks = [read_task(piece, config, context.rules) for piece in bases]
    return context.jobs.read(part.tasks(context, config, timeline, tasks), selected(schema, part.columns))
