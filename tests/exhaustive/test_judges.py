"""Promises judged by other processes: what is found is what one process finds, the same runs to the letter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.explore import checkpoint, explore, judges, search
from nbcc.simulator.explore.cells import Cell, search_cell
from nbcc.simulator.explore.judges import Judges, search_with_judges
from nbcc.simulator.explore.watch import Look


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small worlds have judges, too."""
    monkeypatch.setattr(judges, "WORTH_WHILE", 1)
    monkeypatch.setattr(judges, "AT_ONCE", 4)


@pytest.mark.parametrize(
    "cell",
    [
        Cell(world="demo"),
        Cell(world="demo", protocol="completion-outside-lock"),
        Cell(world="demo", protocol="tombstones-dropped", reduce=True),
        Cell(world="demo", mutant="plan-leaves-a-gap"),
    ],
    ids=str,
)
def test_judges_find_what_one_process_finds(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    if cell.reduce:
        monkeypatch.setattr(judges, "AHEAD", 1_000)  # then whatever can be handed over is, to the first of them
    asked: list[Look] = []

    class Counting(Judges):
        def take(self, look: Look) -> bool:
            taken = super().take(look)
            asked.extend([look] if taken else [])
            return taken

    with Counting(cell, 2) as some:
        found = search_cell(cell, judges=some)
    assert len(asked) > (100 if cell.reduce else 19)  # each of two judges takes two times four, and four wait
    assert replace(found, seconds=0) == replace(search_cell(cell), seconds=0)


def test_a_judge_that_died_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = judges._Judge.ask

    def killed(judge: judges._Judge, looks: list[Look]) -> None:
        ask(judge, looks)
        judge.process.kill()

    monkeypatch.setattr(judges._Judge, "ask", killed)
    with pytest.raises(RuntimeError, match=r"a process that judged promises died \(exit -9\)"):
        search_with_judges(Cell(world="demo"), 2)


def test_what_a_judge_stumbles_over_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = judges.told
    monkeypatch.setattr(judges, "told", lambda look: told(look)._replace(group=99))
    with pytest.raises(IndexError) as error:
        search_with_judges(Cell(world="demo"), 2)
    assert "in a judge of Cell(world='demo'" in error.value.__notes__[0]


class Slow:
    """Looks at nothing before it must."""

    def __init__(self) -> None:
        self.waiting: list[Look] = []

    def take(self, look: Look) -> bool:
        self.waiting.append(look)
        return True

    def finish(self) -> None:
        while self.waiting:
            look = self.waiting.pop(0)
            look.group.judge(look)


def test_a_search_is_written_down_when_all_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever goes on from there knows of no look that was handed over."""
    judging, waiting = Slow(), []
    monkeypatch.setattr(search, "LOOK_EVERY", 50)
    monkeypatch.setattr(search, "KEEP_EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "write", lambda path, kept, identity: waiting.append(len(judging.waiting)))
    found = explore(specs.system("demo"), [PROMISES["SNAP"]], checkpoint=tmp_path / "kept", judges=judging)
    assert waiting
    assert not any(waiting)
    assert found.promises["SNAP"].verdict == "HOLDS"
