"""Publishes the last decision of the decision log, because the deciding writer may have crashed before it published the
instant.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..writes.decision_log import latest_decision


def run(context: Context, config: TableConfig) -> None:
    """Publish the instant of the newest entry of the decision log.

    Otherwise the next writer would publish this instant. A table service that calls `publish_decided` does not depend
    on a next writer.
    """
    config.check_writable()
    with held(context.lock):
        latest_decision(context)
