"""Publishes the instant of the newest decision log entry, whose writer may have crashed before publication."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..writes.announced import decide_all_announced
from ..writes.decision_log import announces, catch_up, in_order


def run(context: Context, config: TableConfig) -> None:
    """Publish the instants of the newest decision log entry that are still unpublished. If writers announce their
    instants, decide and publish those, too: their writers may have died.

    Without `publish_decided`, the instants would stay unpublished until the next write.
    """
    config.check_writable()
    with in_order(context):
        if announces(context):
            decide_all_announced(context)
        else:
            catch_up(context)
