"""A check with a time limit ends at that time and reports its histories."""

from __future__ import annotations

import itertools

import pytest

from nbcc.simulator.lockstep.crosscheck import check
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory


def test_no_history_starts_after_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    minutes = itertools.count()  # each look at the clock is a minute later than the one before
    monkeypatch.setattr(check.time, "monotonic", lambda: 60.0 * next(minutes))
    report = run(CheckOptions(factory("model")), examples=200, seed=1, seconds=5 * 60.0)

    assert report.disagreement is None
    assert report.histories == 4  # looks at 1, 2, 3, 4 minutes; at 5 it is over
