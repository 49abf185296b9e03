"""Lists the instants of the active timeline."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant, load


def run(context: Context, config: TableConfig) -> tuple[Instant, ...]:
    """Return all instants of the active timeline, ordered by requested time, each in its most advanced state."""
    return load(context.storage).instants
