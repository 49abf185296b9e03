"""Random worlds are valid worlds, also with a theme. A check with a time limit ends then and reports its histories."""

from __future__ import annotations

import itertools
import time
from random import Random

import pytest

from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.generators import draw_world
from nbcc.simulator.lockstep.crosscheck.themes import themed
from nbcc.simulator.lockstep.systems.registry import factory


def test_no_random_world_has_too_many_actors() -> None:
    random = Random(0)
    for _ in range(3000):
        assert themed(random.randrange, draw_world(random.randrange)).actors["writer"]


def test_no_history_starts_after_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    minutes = itertools.count()  # each look at the clock is a minute later than the one before
    monkeypatch.setattr(time, "monotonic", lambda: 60.0 * next(minutes))
    report = run(CheckOptions(factory("model")), examples=200, seed=1, seconds=5 * 60.0)

    assert report.disagreement is None
    assert report.histories == 4  # looks at 1, 2, 3, 4 minutes; at 5 it is over
