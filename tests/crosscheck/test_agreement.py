"""Model and engine agree in random histories, in process and on Spark. The test prints the figures."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.coverage import PINNED
from nbcc.simulator.lockstep.crosscheck.report import CheckReport
from nbcc.simulator.lockstep.systems.registry import factory
from tests.builders import by_day

SEEDS = 20  # 0 to 19, in which tests/quality/test_mutants.py must see every broken variant
HISTORIES = by_day.amount(25, 50)  # a seed
TOGETHER = 5  # seeds whose figures are looked at together
PINNED_HISTORIES = 250
ON_SPARK = 20
EDGES_FLOOR = 0.6


def assert_agreed(report: CheckReport, histories: int) -> None:
    print(report.text)
    assert report.disagreement is None, report.text
    assert report.histories >= histories
    assert report.sentence == f"AGREED in {report.histories} histories, {report.steps} steps (random: no proof)"


def assert_interesting(reports: list[CheckReport]) -> None:
    histories = sum(report.histories for report in reports)
    assert median(length for report in reports for length in report.lengths) >= 12
    assert median(switches for report in reports for switches in report.switches) >= 3
    assert sum(report.overlapping for report in reports) >= 0.3 * histories


@pytest.mark.parametrize(
    "first", [pytest.param(n, marks=pytest.mark.nightly if n else ()) for n in range(0, SEEDS, TOGETHER)]
)
def test_engine_agrees_in_process(first: int) -> None:
    reports = [run(CheckOptions(factory("engine")), examples=HISTORIES, seed=first + n) for n in range(TOGETHER)]
    for report in reports:
        assert_agreed(report, HISTORIES)
    assert_interesting(reports)
    assert any(rule.startswith("hudi-rs") for report in reports for rule in report.differences), "hudi-rs was asked"


def test_histories_of_the_pinned_world_cover_its_edges() -> None:
    report = run(CheckOptions(factory("engine"), world=PINNED), examples=PINNED_HISTORIES, seed=0)
    assert_agreed(report, PINNED_HISTORIES)
    assert report.edges >= EDGES_FLOOR * report.all_edges, f"{report.edges} of {report.all_edges}"


@pytest.mark.timeout(420)  # some 40 s on two idle cores
def test_engine_agrees_on_spark(spark: Any) -> None:
    reports = [
        run(CheckOptions(factory("spark")), examples=ON_SPARK // TOGETHER, seed=seed) for seed in range(TOGETHER)
    ]
    for report in reports:
        assert_agreed(report, ON_SPARK // TOGETHER)
    assert_interesting(reports)
