"""Returns the newest completion time that is settled: no instant can still complete at or before this time."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.travel import settled


def run(context: Context, config: TableConfig) -> str | None:
    """Return the newest completion time, which is the default end of incremental queries. Returns None before the
    first commit.
    """
    return settled(context).greatest_completion
