"""Exhaustive breadth-first search of all behaviours within a world's limits, with shortest counterexamples.

The function `explore` searches any system with `initial` and `successors`. A system that is written in the modelling
language (a `TransitionSystem` of `nbcc.model.machine`) is searched faster, by symmetry and partial-order reduction.
"""

from __future__ import annotations

from .exhaustive import explore
from .result import PromiseResult, Result
from .verdict import Verdict, worst

__all__ = ["PromiseResult", "Result", "Verdict", "explore", "worst"]
