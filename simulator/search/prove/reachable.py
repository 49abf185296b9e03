"""Searches small worlds of the model for a run that violates a promise, after a proof obligation has failed.

A counterexample to induction may start from an unreachable state. In this case, the counterexample shows that the
invariant is too weak, not that a promise is broken.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from nbcc.model import Model, Protocol
from nbcc.model.promises import PROMISES

from ... import specs
from ..explore import Verdict, explore

MOST_STATES = 20_000


class BreakingRun(NamedTuple):
    """A shortest run that violates a promise in a world. `because` describes the violation."""

    world: str
    promise: str
    steps: int
    because: str


def search(worlds: Iterable[str], protocol: Protocol, promises: Iterable[str]) -> tuple[BreakingRun, ...]:
    """Search the worlds one by one until a promise is violated. Return all violations in this world, shortest run
    first.
    """
    known = [PROMISES[name] for name in promises if name in PROMISES]
    for name in worlds:
        result = explore(Model(specs.world(name), protocol), known, max_states=MOST_STATES)
        violations = [
            BreakingRun(name, promise, found.steps or 0, found.because or "")
            for promise, found in result.promises.items()
            if found.verdict is Verdict.VIOLATED
        ]
        if violations:
            return tuple(sorted(violations, key=lambda run: (run.steps, run.promise)))
    return ()
