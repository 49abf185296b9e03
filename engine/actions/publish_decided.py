"""Publish what somebody has decided, and died perhaps before it was on the timeline."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..writes.decision_log import look


def run(context: Context, config: TableConfig) -> None:
    """Where a log decides, whoever decides next does the same; a service that comes by waits for nobody."""
    config.check_writable()
    with held(context.lock):
        look(context)
