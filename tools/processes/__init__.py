"""Kills random processes (writers, compactors, rollbackers and readers) of one table, and judges the table's promises.
"""

from __future__ import annotations

from .play import MODES, Plan, play
from .report import Report

__all__ = ["MODES", "Plan", "Report", "play"]
