"""Exhaustive search of every behaviour within a world's limits: plain, breadth first, shortest counterexamples."""

from __future__ import annotations

from .result import PromiseResult, Result
from .search import explore
from .verdict import Verdict, worst

__all__ = ["PromiseResult", "Result", "Verdict", "explore", "worst"]
