"""Exhaustive breadth-first search of all behaviours within a world's limits, with shortest counterexamples.

The function `explore` searches any system with `initial` and `successors`. A `TransitionSystem` can be searched faster,
by symmetry and partial-order reduction; see docs/write-your-own-model.md.
"""

from __future__ import annotations

from .exhaustive import explore
from .result import PromiseResult, Result
from .transition_system import Guard, Transition, TransitionSystem
from .verdict import Verdict, worst

__all__ = ["Guard", "PromiseResult", "Result", "Transition", "TransitionSystem", "Verdict", "explore", "worst"]
