"""The generated picture docs/two-pipelines.svg: two pipelines write one table while it is compacted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from nbcc.model import Model, Step
from nbcc.simulator import specs
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.shrink import realised
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.lockstep.witness import witness
from nbcc.simulator.trace import Trace
from nbcc.simulator.view.drawing import svg
from nbcc.simulator.view.figure import scenes_of_trace
from nbcc.simulator.view.timeline import timeline

TURNS: Final = "w1 w1 w1 w2 w2 w2 w1 w1 w1 w1 w1 c1 c1 w2 w2 w2 w1 w2 w2 c1 w1 w1 w1 w2 c1 c1 c1 w2 w2 w2"
"""The actors in the order of their steps. Each write overlaps one of the other pipeline, and three overlap the
compaction.
"""
WIDTH: Final = 760.0


def picture() -> str:
    times, _ = scenes_of_trace(run(), None)
    return svg(timeline(times._replace(marked=None), WIDTH)) + "\n"


def run() -> Trace:
    """Return the run of the default protocol in which the actors take their steps in the order of `TURNS`."""
    world = specs.world("demo")
    model = Model(replace(world, writes_per_writer=2), specs.protocol("default"))
    steps = tuple(_steps(model))
    named = realised(model, steps)
    assert named is not None
    trace = Trace(world=model.world, protocol=model.protocol, steps=named, batches=witness(model, steps))
    return play(trace, "model", factory("model")).trace


def _steps(model: Model) -> Iterator[Step]:
    state = model.initial
    for actor in TURNS.split():
        [(step, state)] = [each for each in model.successors(state) if each[0].actor == actor]
        yield step
