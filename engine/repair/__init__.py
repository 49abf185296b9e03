"""Repairs the faults of a table that `validate` reports. Most repairs consist of two functions: one returns the planned
changes, the other executes them.
"""

from __future__ import annotations

from .orphans import Orphan, orphan_files
from .partitions import missing_metadata, write_metadata
from .plans import PendingPlan, drop_plan, pending_plans
from .rewrite import rewrite_log
from .times import Retiming, latest_time, retime, retiming

__all__ = [
    "Orphan", "PendingPlan", "Retiming", "drop_plan", "latest_time", "missing_metadata", "orphan_files",
    "pending_plans", "retime", "retiming", "rewrite_log", "write_metadata",
]  # fmt: skip
