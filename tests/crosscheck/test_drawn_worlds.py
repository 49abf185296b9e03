"""Under a protocol that models few kinds of actors, random worlds have these kinds alone, and are as different."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from nbcc.model import World
from nbcc.model.assembly import is_modelled
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.coverage import PINNED
from nbcc.simulator.lockstep.systems.played import unplayed
from nbcc.simulator.lockstep.systems.registry import factory

WORLDS = 100


def drawn(protocol: str) -> list[World]:
    check = Check(CheckOptions(factory("engine"), protocol=specs.protocol(protocol)))
    random = Random(1)
    return [check._drawn_world(random.randrange) for _ in range(WORLDS)]


@pytest.mark.parametrize("protocol", ["free-commits", "shared-commits", "parallel-commits"])
def test_random_worlds_of_announced_commits_are_modelled_and_differ(protocol: str) -> None:
    worlds, there = drawn(protocol), specs.protocol(protocol)
    assert all(is_modelled(world, there) and not unplayed(world, there) for world in worlds)
    others = [world for world in worlds if world != PINNED]
    distinct = {repr(world) for world in others}
    print(f"{protocol}: {len(others)} of {WORLDS} worlds are not the pinned one; {len(distinct)} are distinct")
    assert len(others) > 0.65 * WORLDS  # one in five is meant to be the pinned one
    assert len(distinct) > 0.9 * len(others)
    kinds = Counter(kind for world in others for kind, count in world.actors.items() if count)
    assert min(kinds["compactor"], kinds["rollbacker"], kinds["reader"]) > 0.1 * WORLDS
    assert any(world.flat()["crashes"] for world in others)


def test_a_kind_that_excludes_others_is_drawn_now_and_then() -> None:
    kinds = Counter(kind for world in drawn("free-commits") for kind, count in world.actors.items() if count)
    assert kinds["savepointer"] + kinds["restorer"]
