"""The cross-check drives a toy system by its interface alone: it detects the planted bug, and nothing without it."""

from __future__ import annotations

import random

import pytest

from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.schedule import Pct, Random, Schedule, Swarm

from .toy import ROWS, ToyModel, ToySystem

SCHEDULES = [Random(), Pct(length=8), Swarm(Random()), Swarm(Pct(length=8))]


def play(schedule: Schedule, seed: int, bug: bool) -> PlayedHistory:
    choose = random.Random(seed).randrange
    model = ToyModel()
    history = PlayedHistory(model, ToySystem(bug), mapping=ROWS)
    schedule.begin(choose, model.actors, [row.action for row in ROWS])
    while enabled := history.enabled():
        step = schedule.next(choose, enabled)
        assert step in enabled
        history.take(step)
    history.finish()
    return history


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["random", "pct", "swarm random", "swarm pct"])
def test_every_schedule_finds_the_planted_bug(schedule: Schedule) -> None:
    found = []
    for seed in range(20):
        try:
            play(schedule, seed, bug=True)
        except Disagreement as disagreement:
            found.append(disagreement)
    assert len(found) >= 5
    assert all(disagreement.difference.what == "slices" for disagreement in found)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["random", "pct", "swarm random", "swarm pct"])
def test_without_the_bug_all_agree(schedule: Schedule) -> None:
    lengths = {len(play(schedule, seed, bug=False).steps) for seed in range(20)}
    assert lengths == {8}


def test_an_action_without_a_row_is_a_disagreement_that_says_so() -> None:
    history = PlayedHistory(ToyModel(), ToySystem(bug=False), mapping=ROWS[:1])
    history.take(history.enabled()[0])
    with pytest.raises(Disagreement, match="the mapping has no row for adder_posts"):
        history.take(history.enabled()[-1])
