"""Tours: every step from every state of a small world, driven on the engine in as few runs as possible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions
from nbcc.simulator.lockstep.crosscheck.tour import tour
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search import mutants
from tools.mutated import options_of

SHARES = {"demo": 0.25, "cleaning_crash": 0.02, "rollback_resumed": 0.001}
"""The share of a tour in `make test`: the runs with the rarest steps. Nightly tests drive all of it."""
AT_NIGHT = ("demo", "two_groups", "crash_resume", "cleaning_crash", "answer_lost", "occ_retry", "readers", "rivals")


def on_engine(world: str, protocol: str = "default") -> CheckOptions:
    return CheckOptions(factory("engine"), specs.protocol(protocol), specs.world(world), readers=())


@pytest.mark.parametrize("world", SHARES)
def test_the_rarest_runs_of_a_tour_agree(world: str) -> None:
    report = tour(on_engine(world), share=SHARES[world])
    assert report.disagreement is None, report.text
    assert report.runs >= SHARES[world] * report.all_runs
    assert 0 < report.edges < report.all_edges


@pytest.mark.nightly
def test_no_attempt_deletes_the_files_that_the_log_decides() -> None:
    """The first run: a log compactor without the lock and its rival both try to put the next entry of the log."""
    report = tour(on_engine("lost_lock_log_compaction", "decision-log"), share=0.0002)
    assert report.disagreement is None, report.text
    assert report.runs > 0


@pytest.mark.nightly
@pytest.mark.parametrize("world", AT_NIGHT)
def test_every_step_from_every_state_agrees(world: str) -> None:
    """Prints what it took: `pytest -s`, or `nbcc check WORLD --tour`."""
    report = tour(on_engine(world))
    print(f"\n{report.text}")
    assert report.disagreement is None, report.text
    assert (report.edges, report.runs) == (report.all_edges, report.all_runs)


def test_a_broken_engine_disagrees_within_a_tour(tmp_path: Path) -> None:
    mutant = mutants.load("compaction-drops-log")
    with mutants.applied(mutant):
        report = tour(options_of(mutant, on_engine("demo")), traces_dir=tmp_path)
    assert report.disagreement is not None
    assert report.exit_code == 1
    assert "DISAGREED in run" in report.text
    assert len(list(tmp_path.iterdir())) == 1


def test_a_tour_under_a_weaker_setting_is_a_tour_of_its_world() -> None:
    weaker = tour(on_engine("demo", "requested-time-slicing"), share=0.1)
    assert weaker.disagreement is None, weaker.text
    assert weaker.edges > 0


def test_the_command_prints_edges_and_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "demo", "--tour", "--share", "0.05"]) is Exit.AGREES
    printed = capsys.readouterr().out
    assert "edges of demo" in printed
    assert "0 disagreements" in printed
    assert run(["check", "demo", "--tour", "--share", "0.05", "--json"]) is Exit.AGREES
    figures = json.loads(capsys.readouterr().out)["systems"]["engine"]
    assert figures["all_edges"] > figures["edges"] > 0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--tour"], "a tour needs a world"),
        (["demo", "--tour", "--time", "5s"], "--tour takes --share, not --examples"),
    ],
)
def test_what_a_tour_cannot_do_is_refused(asked: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *asked]) is Exit.BAD_INPUT
    assert message in capsys.readouterr().err
