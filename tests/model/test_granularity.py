"""The granularity `call`: the steps of one call are not interleaved, and every such run is a run at `storage`."""

from __future__ import annotations

import random

import pytest

from nbcc.model import Model, World
from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore

WORLD = World(actors={"writer": 2, "compactor": 2, "reader": 1}, buckets=2, crashes=1, granularity="call")
UNDOING = World(actors={"writer": 2, "rollbacker": 2}, buckets=2, crashes=2, rollbacks=2, granularity="call")


@pytest.mark.parametrize("protocol", ["default", "hudi-1.2.0", "completion-outside-lock"])
@pytest.mark.parametrize("world", [WORLD, UNDOING], ids=["reading", "undoing"])
@pytest.mark.parametrize("seed", range(20))
def test_every_coarse_run_is_a_fine_run(protocol: str, world: World, seed: int) -> None:
    coarse = Model(world, specs.protocol(protocol))
    fine = Model(world.replace(granularity="storage"), specs.protocol(protocol))
    choose, state, other = random.Random(seed), coarse.initial, fine.initial
    while steps := coarse.enabled(state):
        step = choose.choice(steps)
        state, other = coarse.apply(state, step), fine.apply(other, step)
        values = [(m.component(s, name)) for m, s in ((coarse, state), (fine, other)) for name in m.components]
        assert values[: len(coarse.components)] == values[len(coarse.components) :]


def test_a_call_is_not_interleaved() -> None:
    model = Model(WORLD.replace(crashes=0), specs.protocol("default"))
    state = model.initial
    for action in ("writer_requests_instant", "writer_starts_writing"):
        state = model.apply(state, next(s for s in model.enabled(state) if (s.actor, s.action) == ("w1", action)))

    assert [(s.actor, s.action, s.args) for s in model.enabled(state)] == [
        ("w1", "writer_writes_log", (("group", 0), ("version", 1)))
    ]


def test_a_rollback_is_run_in_one_call() -> None:
    model, state = Model(UNDOING), Model(UNDOING).initial
    for actor, *actions in (
        ("w1", "writer_requests_instant", "writer_starts_writing", "writer_writes_log", "writer_writes_log"),
        ("w1", "actor_crashes", "heartbeat_expires"),
        ("roll1", "rollbacker_plans_rollback", "rollbacker_starts_rollback"),
    ):
        for action in actions:
            state = model.apply(state, next(s for s in model.enabled(state) if (s.actor, s.action) == (actor, action)))
    taken = []
    while "publishes_instant" not in taken:
        (step,) = model.enabled(state)
        taken.append(step.action.removeprefix("rollbacker_"))
        state = model.apply(state, step)
    publication = ["takes_lock", "takes_completion_time", "publishes_instant"]
    assert taken == ["deletes_log", "deletes_log", "removes_instant", *publication]


def test_a_coarse_world_is_smaller() -> None:
    world = World()
    sizes = [explore(Model(world.replace(granularity=granularity))).distinct for granularity in ("storage", "call")]

    assert sizes[1] < sizes[0]


def test_a_world_keeps_its_granularity() -> None:
    assert World.from_mapping(WORLD.to_mapping()) == WORLD
    assert "granularity" not in World().to_mapping()
