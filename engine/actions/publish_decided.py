"""Publish the last decision of the decision log: its writer may have crashed before it published the instant."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..writes.decision_log import latest_decision


def run(context: Context, config: TableConfig) -> None:
    """Publish the last decision (the newest entry of the decision log).

    Without an explicit publication, the next writer would publish the last decision. A service that calls this
    operation does not depend on the next writer.
    """
    config.check_writable()
    with held(context.lock):
        latest_decision(context)
