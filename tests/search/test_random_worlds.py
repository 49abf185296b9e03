"""Random worlds: what they violate, their sizes (at night), and that each kills a mutant."""

from __future__ import annotations

import pytest

from nbcc.model import Model, Protocol
from nbcc.simulator.components import is_assumed
from tools.mutation.cases import cases
from tools.mutation.random_worlds import random_worlds
from tools.mutation.record import load

from .pins import search, violated

WORLDS = random_worlds()


@pytest.mark.parametrize("name", WORLDS)
def test_it_violates_what_is_recorded(name: str) -> None:
    pinned = WORLDS[name]
    result = search(Model(pinned.world, pinned.protocol))

    assert violated(result) == pinned.violated
    assert (result.deadlock is not None) == pinned.deadlock


@pytest.mark.nightly
@pytest.mark.parametrize("name", WORLDS)
def test_its_size_is_the_recorded_one(name: str) -> None:
    pinned = WORLDS[name]
    result = search(Model(pinned.world, pinned.protocol))
    assert (result.distinct, result.generated, result.depth) == pinned.sizes


def test_the_default_protocol_breaks_nothing_where_its_assumptions_hold() -> None:
    assumed = [each for each in WORLDS.values() if is_assumed(each.world) and each.protocol == Protocol()]
    assert assumed
    assert not [each for each in assumed if each.violated or each.deadlock]


def test_each_world_kills_a_mutant() -> None:
    if not load().complete:
        pytest.skip("the hunt is not complete: python -m tools.mutation --write")
    kills = {fate.how for _, fate in load().mutants.values()}
    idle = [case.own for case in cases() if case.own in WORLDS and not any(case.where in how for how in kills)]
    assert idle == []
