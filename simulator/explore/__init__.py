"""Exhaustive search of every behaviour within a world's limits: plain, breadth first, shortest counterexamples."""

from __future__ import annotations

from .exhaustive import explore
from .result import PromiseResult, Result
from .verdict import Verdict, worst

__all__ = ["PromiseResult", "Result", "Verdict", "explore", "worst"]
