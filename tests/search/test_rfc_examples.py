"""The worked example of RFC-66, "A Demo Conducive to Comprehension", step by step on the model and on the engine.

fg_t10 [t10, t20]; l1 [t21, t40]; l2 [t30, t50]; fg_t60 [t60, t80] by a compaction; l3 [t35, t90]. The model's clock
counts 1, 2, 3, ...: its first ten readings are the times of the example in ascending order.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.model import FileSlice, Model, Protocol, State
from nbcc.simulator import specs
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.trace import load
from nbcc.simulator.view.run import play
from tools.gallery.files import FOLDER

TIMES = {time: reading for reading, time in enumerate((10, 20, 21, 30, 35, 40, 50, 60, 80, 90), start=1)}
EXAMPLE = load("109-rfc-66-example", [FOLDER])


def run(protocol: Protocol) -> tuple[Model, State]:
    """The model, and its state after the steps of the example."""
    model = Model(EXAMPLE.world, protocol)
    return model, play(model, EXAMPLE.steps).states[-1]


def files(model: Model, state: State) -> list[tuple[int, list[int]]]:
    """The slices as the example lists them, newest first: the time of the base, and the requested times of the logs."""
    times = {reading: time for time, reading in TIMES.items()}

    def shown(each: FileSlice) -> tuple[int, list[int]]:
        return times[each.base or 0], [times[requested] for requested, _ in each.logs]

    return [shown(each) for each in reversed(model.slices(state))]


def test_the_instants_are_those_of_the_example() -> None:
    model, state = run(Protocol())
    pairs = {(each.requested, each.completed) for each in model.timeline(state)}
    assert pairs == {(TIMES[a], TIMES[b]) for a, b in ((10, 20), (21, 40), (30, 50), (35, 90), (60, 80))}


def test_the_file_slices_are_those_of_the_example() -> None:
    model, state = run(Protocol())
    assert files(model, state) == [(60, [35]), (10, [21, 30])]


@pytest.mark.parametrize("name", ["rfc-66-slicing", "rfc-66-as-written"])
def test_the_pseudocode_of_the_rfc_finds_the_same_slices(name: str) -> None:
    """Its group begins with a base file. A group of logs alone is where the pseudocode goes wrong (rfc-66-slicing)."""
    model, state = run(specs.protocol(name))
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
    model, state = run(specs.protocol(name))
    assert files(model, state) == slices


def test_the_engine_has_the_same_slices_and_rows() -> None:
    outcomes = replay(EXAMPLE, ["model", "engine"]).outcomes
    assert [(outcome.system, outcome.fits, outcome.verdict) for outcome in outcomes] == [
        ("model", True, "AGREED"),
        ("engine", True, "AGREED"),
    ], [outcome.because for outcome in outcomes]


def test_option_2_of_rfc_22_loses_what_the_default_keeps() -> None:
    """C3 was in flight when compaction C6 was scheduled: its commit timestamp is below C6, its completion above."""
    trace = load("111-rfc-22-option-2", [FOLDER])
    assert replay(trace).outcomes[0].verdict == "VIOLATED"
    default = replay(replace(trace, protocol=Protocol(), observed=()), ["model", "engine"])
    assert [outcome.verdict for outcome in default.outcomes] == ["AGREED", "AGREED"]


def test_step_4_of_rfc_22_aborts_only_a_writer_of_the_same_files() -> None:
    trace = load("110-rfc-22-conflicts", [FOLDER])
    aborted = [step.actor for step in trace.steps if step.action == "writer_aborts"]
    passed = [step.actor for step in trace.steps if step.action == "writer_passes_check"]
    assert (aborted, passed) == (["w2"], ["w3", "w1", "w2"])
