"""The instants of the active timeline."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..timeline import Instant, load


def run(context: Context, config: TableConfig) -> tuple[Instant, ...]:
    """Return all instants ordered by requested time, each in the highest state that one listing shows."""
    return load(context.storage).instants
