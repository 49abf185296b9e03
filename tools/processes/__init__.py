"""Kills random processes: writers, compactors, rollbackers and readers of one table, whose promises are then judged."""

from __future__ import annotations

from .play import Plan, play
from .report import Report

__all__ = ["Plan", "Report", "play"]
