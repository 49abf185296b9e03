"""Histories with resizes, by engine and model. The run of `nbcc check` on random worlds has no resizers."""

from __future__ import annotations

import random

import pytest

from nbcc.model import World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
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


def play(world: World, histories: int) -> None:
    check = Check(CheckOptions(world=world, factory=lambda world, protocol, _: EngineSystem(world, protocol)))
    for seed in range(histories):
        check.play(random.Random(seed).randrange)


@pytest.mark.parametrize(("name", "why"), [
    ("resized_crash", "with two resizers that may die"), ("resized_twice", "of 4 ranges"),
])
def test_worlds_in_which_the_engine_takes_other_steps_are_refused(name: str, why: str) -> None:
    with pytest.raises(CannotPlay, match=f"does not play a resize {why}"):
        play(specs.world(name), 1)
