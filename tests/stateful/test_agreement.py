"""Model and engine agree in random histories, in process and on Spark. The figures are printed with the test's output."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.simulator.crosscheck.check import Setting, run
from nbcc.simulator.crosscheck.coverage import PINNED
from nbcc.simulator.crosscheck.report import CheckReport
from nbcc.simulator.systems.registry import factory

SEEDS = range(20)  # those in which tests/quality/test_mutants.py must see every broken variant
HISTORIES = 50  # a seed
PINNED_HISTORIES = 250
ON_SPARK = 20  # a half
EDGES_FLOOR = 0.6


def assert_agreed(report: CheckReport, histories: int) -> None:
    print(report.text)
    assert report.found is None, report.text
    assert report.histories >= histories
    assert report.sentence == f"AGREED in {report.histories} histories, {report.steps} steps (random: no proof)"


def assert_interesting(report: CheckReport) -> None:
    figures = report.to_mapping()
    assert figures["median_steps"] >= 12
    assert figures["median_switches"] >= 3
    assert report.overlapping >= 0.3 * report.histories


@pytest.mark.parametrize("seed", SEEDS)
def test_engine_agrees_in_process(seed: int) -> None:
    report = run(Setting(factory("engine")), examples=HISTORIES, seed=seed)
    assert_agreed(report, HISTORIES)
    assert_interesting(report)
    assert any(rule.startswith("hudi-rs") for rule in report.differences), "the third reader was asked"


def test_histories_of_the_pinned_world_cover_its_edges() -> None:
    report = run(Setting(factory("engine"), world=PINNED), examples=PINNED_HISTORIES, seed=0)
    assert_agreed(report, PINNED_HISTORIES)
    assert report.edges >= EDGES_FLOOR * report.all_edges, f"{report.edges} of {report.all_edges}"


@pytest.mark.parametrize("seed", range(2))
def test_engine_agrees_on_spark(seed: int, spark: Any) -> None:
    report = run(Setting(factory("spark")), examples=ON_SPARK, seed=100 + seed)
    assert_agreed(report, ON_SPARK)
    assert_interesting(report)
