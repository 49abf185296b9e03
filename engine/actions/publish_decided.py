"""Publish the last decision of the decision log: its writer may have crashed before it published the instant."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..writes.decision_log import latest_decision


def run(context: Context, config: TableConfig) -> None:
    """The next writer would also publish that decision. A service that calls this need not wait for that writer."""
    config.check_writable()
    with held(context.lock):
        latest_decision(context)
