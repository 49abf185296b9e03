"""The worked example of RFC-66, "A Demo Conducive to Comprehension", step by step on the model and on the engine.

fg_t10 [t10, t20]; l1 [t21, t40]; l2 [t30, t50]; fg_t60 [t60, t80] by a compaction; l3 [t35, t90]. The model's clock
counts 1, 2, 3, ...: its first ten readings are the times of the example in ascending order.
"""

from __future__ import annotations

import pytest

from nbcc.model import FileSlice, Model, Protocol, State, Step, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.lockstep.witness import witness
from nbcc.simulator.trace import Trace

TIMES = {time: reading for reading, time in enumerate((10, 20, 21, 30, 35, 40, 50, 60, 80, 90), start=1)}
WORLD = World(actors={"bulk_inserter": 1, "writer": 3, "compactor": 1})
ORDER = (
    ("bulk1", "bulk_inserter_publishes_instant"),  # fg_t10, t10 to t20
    *((writer, "writer_requests_instant") for writer in ("w1", "w2", "w3")),  # l1 at t21, l2 at t30, l3 at t35
    *((writer, "writer_publishes_instant") for writer in ("w1", "w2")),  # t40, t50
    ("c1", "compactor_publishes_instant"),  # fg_t60, t60 to t80
    ("w3", "writer_publishes_instant"),  # t90
)
"""Each actor goes on until it has taken the action."""


def run(protocol: Protocol) -> tuple[Model, State, tuple[Step, ...]]:
    model = Model(WORLD, protocol)
    state, steps = model.initial, []
    for actor, last in ORDER:
        while not steps or (steps[-1].actor, steps[-1].action) != (actor, last):
            step = next(each for each in model.enabled(state) if each.actor == actor)
            state = model.apply(state, step)
            steps.append(step)
    return model, state, tuple(steps)


def files(model: Model, state: State) -> list[tuple[int, list[int]]]:
    """The slices as the example lists them, newest first: the time of the base, and the requested times of the logs."""
    times = {reading: time for time, reading in TIMES.items()}

    def shown(each: FileSlice) -> tuple[int, list[int]]:
        return times[each.base or 0], [times[requested] for requested, _ in each.logs]

    return [shown(each) for each in reversed(model.slices(state))]


def test_the_instants_are_those_of_the_example() -> None:
    model, state, _ = run(Protocol())
    pairs = {(each.requested, each.completed) for each in model.timeline(state)}
    assert pairs == {(TIMES[a], TIMES[b]) for a, b in ((10, 20), (21, 40), (30, 50), (35, 90), (60, 80))}


def test_the_file_slices_are_those_of_the_example() -> None:
    model, state, _ = run(Protocol())
    assert files(model, state) == [(60, [35]), (10, [21, 30])]


@pytest.mark.parametrize("name", ["rfc-66-slicing", "rfc-66-as-written"])
def test_the_pseudocode_of_the_rfc_finds_the_same_slices(name: str) -> None:
    """Its group begins with a base file. A group of logs alone is where the pseudocode goes wrong (rfc-66-slicing)."""
    model, state, _ = run(specs.protocol(name))
    assert files(model, state) == [(60, [35]), (10, [21, 30])]


@pytest.mark.parametrize(
    ("name", "slices"),
    [
        ("requested-time-slicing", [(60, []), (10, [21, 30, 35])]),
        ("rfc-66-temporal-order", [(60, []), (10, [21, 30])]),
    ],
)
def test_another_rule_loses_l3(name: str, slices: list[tuple[int, list[int]]]) -> None:
    """By requested time l3 is below a base file that does not hold it; by the four rules it is in no slice."""
    model, state, _ = run(specs.protocol(name))
    assert files(model, state) == slices


def test_the_engine_has_the_same_slices_and_rows() -> None:
    model, _, steps = run(Protocol())
    trace = Trace(world=WORLD, protocol=Protocol(), steps=steps, batches=witness(model, steps))
    outcomes = replay(trace, ["model", "engine"]).outcomes
    assert [(outcome.system, outcome.fits, outcome.verdict) for outcome in outcomes] == [
        ("model", True, "AGREED"),
        ("engine", True, "AGREED"),
    ], [outcome.because for outcome in outcomes]
