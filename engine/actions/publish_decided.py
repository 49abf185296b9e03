"""Publishes the instant of the newest decision log entry, whose writer may have crashed before publication."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..writes.decision_log import latest_decision


def run(context: Context, config: TableConfig) -> None:
    """Publish the instant of the newest decision log entry, if the instant is still unpublished.

    Without `publish_decided`, the instant would stay unpublished until the next write.
    """
    config.check_writable()
    with held(context.lock):
        latest_decision(context)
