"""Plans and runs a clean, which deletes files that reads as of the horizon or later do not need.

A pending clean is run before the new clean is planned.
"""

from __future__ import annotations

from ..config import TableConfig
from ..config.maintenance import PolicyName
from ..context import Context
from ..timeline import Instant
from . import run_clean, schedule_clean


def run(
    context: Context, config: TableConfig, policy: PolicyName = "KEEP_LATEST_COMMITS", retained: int = 10
) -> Instant | None:
    """Delete the files that no read of a retained table state needs. Reads of table states that are no longer
    retained raise `Cleaned`.

    The policy KEEP_LATEST_COMMITS retains the table states after the newest `retained` writes. KEEP_LATEST_BY_HOURS
    retains the table states of the last `retained` hours. KEEP_LATEST_FILE_VERSIONS retains the newest `retained`
    base files of each file group. Returns None if there is nothing to delete.
    """
    pending = run_clean.run(context, config)
    planned = schedule_clean.run(context, config, policy, retained)
    return run_clean.run(context, config, planned) if planned else pending
