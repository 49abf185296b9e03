"""Exhaustive search of every behaviour within a world's limits, with shortest counterexamples.

`explore` searches any system with `initial` and `successors`. A `TransitionSystem` is searched faster and can be
reduced; docs/write-your-own-model.md shows how to write one.
"""

from __future__ import annotations

from .exhaustive import explore
from .result import PromiseResult, Result
from .transition_system import Guard, Transition, TransitionSystem
from .verdict import Verdict, worst

__all__ = ["Guard", "PromiseResult", "Result", "Transition", "TransitionSystem", "Verdict", "explore", "worst"]
