"""Plans and runs a clean, which deletes files that reads as of the horizon or later do not need."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..services.cleaning import PolicyName
from ..timeline import Instant
from . import run_clean, schedule_clean


def run(
    context: Context, config: TableConfig, policy: PolicyName = "KEEP_LATEST_COMMITS", retained: int = 10
) -> Instant | None:
    """Run the pending clean (if any), then plan and run a new clean.

    Returns the clean that completed last; None if there is nothing to delete.
    """
    pending = run_clean.run(context, config)
    planned = schedule_clean.run(context, config, policy, retained)
    return run_clean.run(context, config, planned) if planned else pending
