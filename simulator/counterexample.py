"""Converts a path found by a search into a trace that users can read and systems can replay."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Model, Step

from .replay import play
from .shrink import realised, shortest_violation
from .systems.registry import factory
from .trace import Trace
from .witness import witness


def counterexample(
    model: Model, path: Sequence[Step], promise: str, found_by: str = "", cycle: int = 0
) -> Trace:
    """Return the trace of a path that ends with a violated promise. The trace contains rows that make the violation
    visible, and the observations of the model at each step.

    Steps of a path without a cycle are reordered, so that the trace has as few context switches as possible. `cycle` is
    the number of final steps that repeat forever; 0 if the path has no cycle.
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
