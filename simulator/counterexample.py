"""Converts a path of a search to a trace that users can read and systems can replay."""

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
    """The trace of a path that ends with a violated promise. It contains rows that show the violation, and the model's
    observations.

    Among the interleavings of the same steps, the trace has the fewest context switches. `cycle` is the number of last
    steps that repeat.
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
