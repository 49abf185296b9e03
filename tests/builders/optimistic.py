"""The options of optimistic writers."""

from __future__ import annotations

OPTIMISTIC = {
    "conflict_check", "conflict_window", "conflict_by", "conflict_reads", "timeline", "priority", "early_detection",
}  # fmt: skip
