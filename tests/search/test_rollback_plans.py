"""Hudi #18050 as three values of one option: how many pending rollbacks a failed write has, and who runs one."""

from __future__ import annotations

from collections import Counter

import pytest

from nbcc.model import Model, Protocol, State, World
from nbcc.model.machine.transition import DEAD
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore

from ..builders.reachable import reachable
from .pins import search, violated

WORLD = specs.world("rollback_planned_twice")
DIES_TOO = World(actors={"writer": 1, "rollbacker": 2}, writes_per_writer=2, crashes=2, rollbacks=3)
"""A rollbacker may die after the writer whose write it rolls back."""


def model_of(plans: str, world: World = DIES_TOO) -> Model:
    return Model(world, Protocol.from_mapping({"rollback_plans": plans}))


def pending_plans(model: Model, state: State) -> int:
    """Return the largest number of pending rollbacks that a failed write has in `state`."""
    done = {entry.requested for entry in model.component(state, "published")}
    pending = (each.target for each in model.component(state, "rollbacks") if each.requested not in done)
    return max(Counter(pending).values(), default=0)


def runners(model: Model, state: State) -> int:
    """Return the largest number of live rollbackers that run one rollback in `state`."""
    rollbackers = (model.component(state, name) for name in ("roll1", "roll2"))
    run = (each.rollback for each in rollbackers if each.rollback and each.step != DEAD)
    return max(Counter(run).values(), default=0)


@pytest.mark.parametrize(("plans", "most", "at_once"), [("one", 1, 2), ("exclusive", 1, 1), ("several", 2, 2)])
def test_as_many_rollbacks_and_runners_as_the_option_says(plans: str, most: int, at_once: int) -> None:
    model = model_of(plans)
    states = reachable(model)
    assert max(pending_plans(model, state) for state in states) == most
    assert max(runners(model, state) for state in states) == at_once


@pytest.mark.parametrize("world", [WORLD, DIES_TOO], ids=["named", "a rollbacker dies, too"])
@pytest.mark.parametrize("plans", ["one", "exclusive", "several"])
def test_each_answer_keeps_every_promise(plans: str, world: World) -> None:
    found = explore(model_of(plans, world), reduce=True)
    verdicts = {each.verdict for each in found.promises.values()}
    assert verdicts <= {Verdict.HOLDS, Verdict.NOT_APPLICABLE}


def test_a_choice_before_the_lock_breaks_no_other_promise_of_hudi() -> None:
    """A clean of Hudi chooses before the lock. Its protocol says that it does so under it (specs/boundary.md)."""
    hudi = specs.protocol("hudi-1.2.0")
    world = specs.world("failed_writer").replace(actors={"writer": 1, "rollbacker": 1})
    under, before = (
        violated(search(Model(world, hudi.replace(rollback_check=check)))) for check in ("under_lock", "before_lock")
    )
    assert {"SNAP", "REC"} < under.keys() == before.keys()
