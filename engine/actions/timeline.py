"""Lists the instants of the active timeline.

Each instant is returned in its most advanced state.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant


def run(context: Context, config: TableConfig) -> tuple[Instant, ...]:
    """Return all instants of the active timeline, sorted by requested time."""
    return context.active().instants
