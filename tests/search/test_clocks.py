"""Whose clock gives the times: what each choice keeps, and that waiting is what keeps it."""

from __future__ import annotations

import pytest

from nbcc.model import Model, Protocol, Step
from nbcc.model.mechanisms.clocks import Clock
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore
from tests.builders.reachable import reachable

from .pins import search


def mono(world: str, protocol: Protocol) -> Verdict:
    return explore(Model(specs.world(world), protocol), [PROMISES["MONO"]]).promises["MONO"].verdict


@pytest.mark.parametrize(
    ("clock", "one_clock", "within", "beyond"),
    [
        ("true_time", "HOLDS", "HOLDS", "VIOLATED"),
        ("time_service", "HOLDS", "HOLDS", "HOLDS"),
        ("local", "HOLDS", "VIOLATED", "VIOLATED"),
        ("seconds", "VIOLATED", "VIOLATED", "VIOLATED"),
    ],
)
def test_times_are_distinct_and_in_order(clock: str, one_clock: str, within: str, beyond: str) -> None:
    protocol = Protocol.from_mapping({"clock": clock})
    found = [mono(world, protocol).name for world in ("demo", "skewed_clocks", "clocks_beyond_bound")]
    assert found == [one_clock, within, beyond]


def test_taking_the_time_outside_the_lock_is_no_better_for_waiting() -> None:
    assert mono("skewed_clocks", Protocol(completion_time="outside_lock")) is Verdict.VIOLATED


def test_test_and_set_keeps_writes_apart_and_not_a_write_from_a_plan() -> None:
    world = specs.world("demo").replace(actors={"writer": 2})
    alone, as_given = (Protocol(clock="seconds", uniqueness=each) for each in ("test_and_set", "as_given"))
    requested = [
        {tuple(i.requested for i in model.timeline(state)) for state in reachable(model)}
        for model in (Model(world, alone), Model(world, as_given))
    ]
    assert all(len(set(times)) == len(times) for times in requested[0])
    assert any(len(set(times)) < len(times) for times in requested[1])
    assert "PART" not in {n for n, f in search(Model(specs.world("demo"), alone)).promises.items() if f.trace}


def test_the_skew_is_a_part_of_the_world() -> None:
    with pytest.raises(ValueError, match="skew_beyond is a part of skew, found 2 of 1"):
        specs.world("demo").replace(skew=1, skew_beyond=2)


def test_after_a_wait_every_clock_is_later() -> None:
    clock = Clock(most_ahead=3, wait=3)
    for ahead in range(4):
        time, later = clock.take(10, ahead, 0)
        assert later >= time
        assert clock.take(later, 0, 0)[0] > time


def test_a_step_says_how_far_a_clock_is_ahead() -> None:
    model = Model(specs.world("skewed_clocks"))
    sentence = model.describe(Step("w1", "writer_requests_instant", (("ahead", 1),)))
    assert sentence == "w1 requests an instant; its clock is 1 ahead"
