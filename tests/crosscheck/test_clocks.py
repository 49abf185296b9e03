"""With differing clocks the engine's generator returns the model's times, and loses the same rows as the model."""

from __future__ import annotations

import pytest

from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory

HISTORIES = 25


@pytest.mark.parametrize(
    ("world", "clock"),
    [
        ("skewed_clocks", "true_time"),
        ("skewed_clocks", "local"),
        ("skewed_clocks", "time_service"),
        ("clocks_beyond_bound", "true_time"),
    ],
)
def test_engine_and_model_agree_under_skew(world: str, clock: str) -> None:
    protocol = Protocol.from_mapping({"clock": clock})
    setting = CheckOptions(factory("engine"), protocol=protocol, world=specs.world(world), readers=())
    report = run(setting, examples=HISTORIES, seed=3)
    assert report.disagreement is None, report.text
    assert report.histories >= HISTORIES
