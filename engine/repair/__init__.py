"""Repairs of what `validate` complains about: each says first what it would do, and does only that."""

from __future__ import annotations

from .orphans import Orphan, orphan_files
from .partitions import missing_metadata, write_metadata
from .plans import PendingPlan, drop_plan, pending_plans

__all__ = [
    "Orphan",
    "PendingPlan",
    "drop_plan",
    "missing_metadata",
    "orphan_files",
    "pending_plans",
    "write_metadata",
]
