"""The tour's story is true: no step is written down, and without a fault there is no loss. Played in this process."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol
from nbcc.model.mechanisms import actions
from nbcc.simulator import specs
from nbcc.simulator.cli import demo as command
from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep import demo
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.systems.engine import EngineSystem

SOURCES = (demo.__file__, command.__file__)


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine's tasks in this process instead of on Spark; the Spark run is a test of the README's."""

    @contextlib.contextmanager
    def tables(out: Path) -> Iterator[demo.DemoTables]:
        out.mkdir()
        yield demo.DemoTables(lambda world, protocol, folder: EngineSystem(world, protocol), out)

    monkeypatch.setattr(command, "_tables", tables)
    monkeypatch.chdir(tmp_path)


def test_the_tour_shows_a_loss_and_that_the_default_keeps_the_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--out", "tour"]) == 0
    out = capsys.readouterr().out
    assert "agreed after each of" in out
    lost = re.search(r"under this protocol  VIOLATED  the last snapshot has (.*)", out)
    kept = re.search(r"under default        AGREED    the last snapshot has (.*)", out)
    assert lost
    assert kept
    assert lost[1] != kept[1]
    assert Path("tour", "lost.html").is_file()
    (again,) = re.findall(r"again   nbcc (replay [0-9a-f]{6}) --on spark", out)
    assert run([*again.split(), "--on", "engine", "--expect", "violated"]) == 0


def test_without_the_fault_no_loss_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--out", "tour", "--protocol", "default"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"3\. .*\n\n   HOLDS  SNAP  .*\n   no interleaving loses a row, up to depth \d+\n$", out)
    assert "4." not in out
    assert "VIOLATED" not in out


def test_a_folder_with_files_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tour").mkdir()
    Path("tour", "mine.txt").touch()
    assert run(["demo", "--out", "tour"]) == 2
    assert "tour is not empty: use a new folder" in capsys.readouterr().err


@pytest.mark.parametrize("source", SOURCES)
def test_no_step_is_written_down(source: str) -> None:
    text = Path(source).read_text("utf-8")
    assert [name for name in actions() if name in text] == []


def test_the_first_interleaving_is_one_worth_watching() -> None:
    trace = demo.random_interleaving(specs.world("demo"))
    model = Model(trace.world, Protocol())
    history = PlayedHistory(model, EngineSystem(trace.world, Protocol()), trace.batches)
    together = 0
    for step in trace.steps:
        history.take(history.resolved(step))
        pending = [instant.action for instant in model.timeline(history.state) if instant.completed is None]
        together = max(together, len(pending))
    assert together > 1
    assert {step.actor for step in trace.steps} == {"w1", "w2", "c1"}


def test_an_engine_that_loses_the_row_under_the_default_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nbcc.simulator.search import mutants

    with mutants.applied(mutants.load("log-by-requested-time")):
        assert run(["demo", "--out", "tour"]) == 1
    assert "DISAGREED" in capsys.readouterr().out
