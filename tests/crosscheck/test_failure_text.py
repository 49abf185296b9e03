"""The text of a failure reproduces it: parse the text, replay it, and expect the same text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.report import CheckReport
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search import mutants
from nbcc.simulator.trace import context_switches, load
from nbcc.simulator.trace_text import render

MUTANT = mutants.load("log-by-requested-time")


@pytest.fixture(scope="module")
def failure(tmp_path_factory: pytest.TempPathFactory) -> tuple[CheckReport, Path]:
    folder = tmp_path_factory.mktemp("traces")
    with mutants.applied(MUTANT):
        setting = CheckOptions(factory("engine"), readers=(), found_by="nbcc check --seed 5")
        return run(setting, examples=50, seed=5, traces_dir=folder), folder


def test_the_text_names_a_command_that_shows_the_same_again(failure: tuple[CheckReport, Path]) -> None:
    report, folder = failure
    assert report.disagreement is not None
    text = render(report.disagreement)
    command = re.search(r"see it again: nbcc replay ([0-9a-f]{6}) --on (\w+)$", text)
    assert command is not None
    with mutants.applied(MUTANT):
        outcome = replay(load(command[1], [folder]), [command[2]]).outcomes[0]
    assert outcome.same
    assert render(outcome.trace) == text


def test_without_the_bug_the_trace_fits_and_agrees(failure: tuple[CheckReport, Path]) -> None:
    report, _ = failure
    assert report.disagreement is not None
    outcome = replay(report.disagreement, ["engine"]).outcomes[0]
    assert (outcome.fits, outcome.verdict) == (True, "AGREED")
    assert not outcome.same


def test_the_failure_was_shrunk(failure: tuple[CheckReport, Path]) -> None:
    """A late completion across a compaction: two writes, one plan; fewer context switches cannot show it."""
    report, _ = failure
    assert report.disagreement is not None
    assert (
        len(report.disagreement.steps) <= 13
    )  # a write, another that begins, a plan; then the other write's last five
    assert context_switches(report.disagreement.steps) <= 3
    assert sum(len(rows) for batch in report.disagreement.batches.values() for rows in batch.values()) == 2
    assert report.disagreement.world.actors["writer"] <= 2


def test_the_report_says_what_differs_in_a_sentence(failure: tuple[CheckReport, Path]) -> None:
    report, _ = failure
    assert report.exit_code == 1
    assert report.sentence.startswith("DISAGREED after")
    assert "slices: the model says group 0 from r2: base r2, logs r1.1" in report.text
    assert "HOLDS" not in report.text
