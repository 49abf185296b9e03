"""Histories with resizes, by engine and model. The run of `nbcc check` on random worlds has no resizers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf
from typing import Any

import pytest

from nbcc.engine.actions import schedule_clean
from nbcc.engine.services import plan as planning
from nbcc.model import Step, World
from nbcc.model.kernel.compactor import COMPACTOR_SCHEDULES_PLAN
from nbcc.model.kernel.planning import plan
from nbcc.model.mechanisms import kind_of
from nbcc.model.mechanisms.cleaning.mechanism import CLEAN_PLAN, CLEANER
from nbcc.model.mechanisms.cleaning.rules import Cleans
from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.readers import standard_readers
from nbcc.simulator.lockstep.crosscheck.report import Tally
from nbcc.simulator.lockstep.schedule import Choose, Pct, Random, Schedule, Swarm
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.users_factory import CannotPlay

WORLDS = (
    "resized", "resized_merged", "resized_cancelled", "resized_three_writers", "resized_readers", "resized_compacted",
    "resized_cleaned", "resized_rollback",
)  # fmt: skip
HISTORIES = 20


@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_model(name: str) -> None:
    play(specs.world(name), HISTORIES)


@pytest.mark.nightly
@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_model_in_many_histories(name: str) -> None:
    play(specs.world(name), 400)


class ResizerPauses:
    """Wraps a schedule: after one to three of its steps, the resizer pauses until no other actor can go on. So the
    services do most of their work while a resize is pending. In half of the histories, it begins only once a compaction
    is planned. A history ends after at most 40 steps, and what is due is compared then.
    """

    def __init__(self, inner: Schedule) -> None:
        self._inner, self._left, self._steps, self._waits = inner, 0, 0, False

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        self._left, self._steps, self._waits = 1 + choose(3), 1 + choose(40), choose(2) == 1
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        others = [step for step in enabled if kind_of(step.actor) != RESIZER.name]
        step = self._inner.next(choose, others if others and (self._waits or self._left <= 0) else enabled)
        if step is not None:
            self._left -= kind_of(step.actor) == RESIZER.name
            self._waits = self._waits and step.action != COMPACTOR_SCHEDULES_PLAN
        self._steps -= 1
        return step if self._steps >= 0 else None


PAUSING = tuple(lambda inner=inner: ResizerPauses(inner()) for inner in (Random, lambda: Swarm(Random()), Pct))


def due_services(history: PlayedHistory, tally: Tally) -> None:
    """Compare whether a compaction, and a clean, would be planned now. A history asks the engine for a plan only where
    the model has one.
    """
    model, state, system = history.model, history.state, history.system
    assert isinstance(system, EngineSystem)
    context = system._looking
    now = context.history()
    due = plan(model.rules, model.table(state), model.world.groups, inf)
    history.compare("is a compaction due", bool(due), bool(planning.worth_compacting(context, now.current)))
    for me in model.actors_of(CLEANER):
        if all(clean.completed for clean in now.current.cleans):
            retained = model.world.limits_of(me, Cleans).commits_retained
            due = model.view(state, CLEAN_PLAN, me).groups
            found = schedule_clean.is_useful(context, system.config, "KEEP_LATEST_COMMITS", retained, now)
            history.compare("is a clean due", bool(due), found)


@pytest.mark.parametrize("histories", [HISTORIES, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", ["resized_compacted", "resized_cleaned"])
def test_the_engine_agrees_while_the_resizer_pauses(name: str, histories: int) -> None:
    play(specs.world(name), histories, schedules=PAUSING, readers=[*standard_readers(), due_services])


def play(world: World, histories: int, **options: Any) -> None:
    check = Check(CheckOptions(lambda world, protocol, _: EngineSystem(world, protocol), world=world, **options))
    for seed in range(histories):
        check.play(random.Random(seed).randrange)


@pytest.mark.parametrize(("name", "why"), [
    ("resized_crash", "with two resizers that may die"), ("resized_twice", "of 4 ranges"),
])
def test_worlds_in_which_the_engine_takes_other_steps_are_refused(name: str, why: str) -> None:
    with pytest.raises(CannotPlay, match=f"does not play a resize {why}"):
        play(specs.world(name), 1)
