"""Gives the keys of each partition to another number of file groups, while writers continue."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant
from . import run_resize, schedule_resize


def run(context: Context, config: TableConfig, buckets: int | None = None) -> Instant | None:
    """Change the number of file groups in each partition to `buckets`, or complete the pending resize if `buckets` is
    not given. Returns None if there is nothing to do.

    Writers, readers and streams continue meanwhile; none of them is refused. A write that began before the resize
    completed puts its rows into the new file groups before it completes. Reads as of a time before the resize
    completed open the old file groups. Any process may complete an interrupted resize, by the same call. Writers and
    readers need a release of nbcc that knows resizes; Hudi's writers must be stopped, and started with the new number.
    """
    planned = None
    if buckets is not None:
        planned = schedule_resize.run(context, config, buckets)
        if planned is None:
            return None
    return run_resize.run(context, config, planned)
