"""Converts a path found by a search into a trace that users can read and systems can replay."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Model, Step

from ..trace import Trace
from .replay import play
from .shrink import realised, shortest_violation
from .systems.registry import factory
from .witness import witness


def counterexample(
    model: Model, path: Sequence[Step], promise: str, found_by: str = "", cycle: int = 0
) -> Trace:
    """Return a trace of the steps in `path`, which end with a violation of `promise`. The trace contains rows that make
    the violation visible, and the observations of the model at each step.

    `cycle` is the number of final steps that repeat forever, or 0 if no steps repeat. Without a cycle, the
    steps are reordered, so that the trace has as few context switches as possible.
    """
    steps = (None if cycle else shortest_violation(model, path, promise)) or tuple(path)
    named = realised(model, steps)
    assert named is not None, "the search took these steps"
    found = Trace(
        world=model.world,
        protocol=model.protocol,
        steps=named,
        batches=witness(model, steps),
        promise=promise,
        found_by=found_by,
        cycle=cycle,
    )
    return play(found, "model", factory("model")).trace
