"""Lassos: runs that cycle in endless worlds, whole and reduced, and their replay."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.lockstep.counterexample import counterexample
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.trace import from_mapping, to_json
from nbcc.simulator.trace_text import render
from nbcc.simulator.users_factory import CannotPlay

PROGRESS = PROMISES["PROGRESS"]
CASES: dict[str, tuple[str, dict[str, str], int, int]] = {
    "non-blocking writers": ("endless", {}, 0, 0),
    "an optimistic writer starves": ("endless", {"concurrency": "occ"}, 21, 13),
    "a log without lost locks": ("endless", {"decision": "log"}, 0, 0),
    "locks are lost": ("endless_lost_lock", {}, 0, 0),
    "a log, and a lock is lost once": ("endless_lost_lock", {"decision": "log"}, 28, 11),
}
"""World, options, steps of the lasso (0: none), steps of its cycle."""


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_writer_starves_or_does_not(name: str, reduced: bool) -> None:
    world, options, steps, cycle = CASES[name]
    model = Model(specs.world(world), Protocol.from_mapping(options))
    found = explore(model, [PROGRESS], reduce=reduced).promises["PROGRESS"]

    assert found.verdict is (Verdict.VIOLATED if steps else Verdict.HOLDS)
    assert (found.steps or 0, found.cycle) == (steps, cycle)
    if found.trace:
        states = [model.initial]
        for step in found.trace:
            states.append(model.apply(states[-1], step))
        assert states[-1] == states[-1 - cycle]
        assert all(one != other for one, other in pairwise(states))
        starved = {name for name in ("w1", "w2") if all(name in model.busy(state) for state in states[-cycle:])}
        assert starved == {name for name in ("w1", "w2") if f"{name} never finishes" in (found.because or "")} != set()
        assert starved < {step.actor for step in found.trace[-cycle:]}, "a fair run lets every writer act"


@pytest.mark.parametrize("options", [{}, {"concurrency": "occ"}, {"decision": "log"}])
def test_a_numbered_state_allows_the_runs_of_the_state(options: dict[str, Any]) -> None:
    """Up to its last write a world with limits allows exactly the first steps of the endless one."""
    limited = Model(World(actors={"writer": 2}, writes_per_writer=3, retries=3), Protocol.from_mapping(options))
    endless = Model(World(actors={"writer": 2}, endless=1, retries=1), Protocol.from_mapping(options))
    pairs = {(limited.initial, endless.initial)}
    for _ in range(18):  # three writes of one writer
        following = set()
        for one, other in pairs:
            ones = {(step.actor, step.action): after for step, after in limited.successors(one)}
            others = {(step.actor, step.action): after for step, after in endless.successors(other)}
            assert ones.keys() == others.keys()
            following |= {(ones[each], others[each]) for each in ones}
        pairs = following


def test_a_lasso_is_saved_and_replayed() -> None:
    model = Model(specs.world("endless"), Protocol(concurrency="occ"))
    found = explore(model, [PROGRESS], reduce=True).promises["PROGRESS"]
    trace = counterexample(model, found.trace or (), "PROGRESS", cycle=found.cycle)
    assert (trace.verdict, trace.cycle) == ("VIOLATED", found.cycle)
    assert trace.because == found.because

    marked = render(trace).splitlines()
    place = next(i for i, line in enumerate(marked) if "the run repeats the following steps permanently" in line)
    assert marked[place + 1].lstrip().startswith(f"{len(trace.steps) - found.cycle + 1} |")

    again = from_mapping(json.loads(to_json(trace)))
    [outcome] = replay(again).outcomes
    assert (outcome.verdict, outcome.same) == ("VIOLATED", True)
    short = from_mapping({**json.loads(to_json(trace)), "cycle": found.cycle - 1})
    assert replay(short).outcomes[0].verdict == "AGREED", "its last steps do not lead back"


def test_the_engine_does_not_play_an_endless_world() -> None:
    with pytest.raises(CannotPlay, match="the engine does not support endless = 1"):
        factory("engine")(specs.world("endless"), Protocol(), {})


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"actors": {"writer": 1, "compactor": 1}}, "without compactor"),
        ({"actors": {"writer": 2}, "crashes": 1}, "without crashes"),
    ],
)
def test_an_endless_world_has_writers_alone(limits: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        World(endless=1, **limits)


def test_an_endless_world_is_not_modelled_with_shared_logs() -> None:
    with pytest.raises(ValueError, match="an endless world is not modelled with shared logs"):
        Model(specs.world("endless"), Protocol(log_layout="shared"))
