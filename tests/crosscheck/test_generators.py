"""Random worlds are valid worlds, also with a theme."""

from __future__ import annotations

from random import Random

from nbcc.simulator.lockstep.crosscheck.generators import draw_world
from nbcc.simulator.lockstep.crosscheck.themes import themed


def test_no_random_world_has_too_many_actors() -> None:
    random = Random(0)
    for _ in range(3000):
        assert themed(random.randrange, draw_world(random.randrange)).actors["writer"]
