"""Publish the last decision of the decision log, in case its writer crashed before it published it."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..writes.decision_log import look


def run(context: Context, config: TableConfig) -> None:
    """The next decision would publish it as well; a service that calls this need not wait for one."""
    config.check_writable()
    with held(context.lock):
        look(context)
