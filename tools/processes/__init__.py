"""Writers, a compactor and readers as processes of the operating system on one table, killed at random, then judged."""

from __future__ import annotations

from .play import Plan, play
from .report import Report

__all__ = ["Plan", "Report", "play"]
