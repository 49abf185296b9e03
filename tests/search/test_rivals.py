"""Two live runners of one plan: the first that publishes completes it, and the other one gives way."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.machine.transition import DEAD
from nbcc.simulator import specs
from tests.builders.reachable import reachable

from .pins import search, violated


def runs(model: Model, action: str) -> set[tuple[str, ...]]:
    """For each reachable step with this action: the steps of the live runners of its plan, before it."""
    return {
        tuple(own.step for own in runners(model, state, step.actor) if own.step != DEAD)
        for state in reachable(model)
        for step in model.enabled(state)
        if step.action == action
    }


def runners(model: Model, state: Any, actor: str) -> list[Any]:
    """The actors of the kind of `actor` that run a plan."""
    [kind] = [kind for kind, actors in model.actors.items() if actor in actors]
    owns = [model.component(state, name) for name in model.actors_of(kind)]
    return [own for own in owns if own.step != "idle"]


def test_a_compactor_takes_up_the_plan_of_a_live_one() -> None:
    model = Model(specs.world("rivals"))
    assert {("about to start its plan",), ("running its plan",), ("written",)} <= runs(model, "compactor_resumes_plan")


def test_the_slower_compactor_gives_way_before_it_starts_and_before_it_publishes() -> None:
    model = Model(specs.world("rivals"))
    assert runs(model, "compactor_finds_it_done") == {("about to start its plan",), ("written",)}
    assert runs(model, "compactor_finds_input_cleaned") == {("running its plan",)}


def test_a_compactor_misses_files_only_if_another_one_died_before_it_published() -> None:
    crash = World(actors={"writer": 1, "compactor": 2}, crashes=1)
    assert runs(Model(crash), "compactor_misses_files") == {("under the lock",)}
    assert "compactor_misses_files" not in {each.action for each in Model(crash.replace(crashes=0)).transitions}


@pytest.mark.parametrize(
    ("kind", "limits"),
    [("cleaner", {"cleans": 1, "commits_retained": 1}), ("log_compactor", {"log_compactions": 1, "compactions": 0})],
)
def test_other_runners_have_rivals_too(kind: str, limits: dict[str, int]) -> None:
    world = World(actors={"writer": 1, "compactor": int(kind == "cleaner"), kind: 2}, writes_per_writer=2, **limits)
    assert len(runs(Model(world), f"{kind}_finds_it_done")) == 2
    assert violated(search(Model(world))) == {}


def test_the_only_runner_of_a_kind_has_no_rival() -> None:
    actions = {each.action for each in Model(specs.world("demo")).transitions}
    assert actions & {"compactor_starts_plan", "compactor_resumes_plan", "compactor_finds_it_done"} == {
        "compactor_starts_plan"
    }


def test_a_plan_is_completed_twice_if_it_is_checked_before_the_lock() -> None:
    world = World(actors={"writer": 1, "compactor": 2})
    assert violated(search(Model(world, Protocol(plan_check="before_lock")))) == {"MONO": 19}


def test_no_rival_breaks_a_promise() -> None:
    """The mutant loser-deletes-base-file violates CLEAN here in 15 steps."""
    assert violated(search(Model(specs.world("rivals")))) == {}
