"""`nbcc.testing.machine`: a user's system in the user's pytest."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep.systems.model import ModelSystem
from nbcc.testing import machine
from tests.pages.readme import programs


class Forgetful(ModelSystem):
    """A table whose timeline forgets pending compactions."""

    def timeline(self) -> tuple[Any, ...]:
        return tuple(entry for entry in super().timeline() if entry[0] != "compaction")


def sound(world: World, protocol: Protocol, batches: Any) -> ModelSystem:
    return ModelSystem(Model(world, protocol), batches)


def forgetful(world: World, protocol: Protocol, batches: Any) -> ModelSystem:
    return Forgetful(Model(world, protocol), batches)


test_a_sound_system_passes = machine(sound, world="demo", examples=30)


def test_an_unsound_system_fails_with_the_interleaving(tmp_path: Path) -> None:
    test = machine(forgetful, examples=50, traces=tmp_path)
    with pytest.raises(AssertionError, match=r"(?s)the model and the system differ: timeline.*schedules plan.*because"):
        test()


PAGE = Path(__file__).parents[2] / "docs" / "test-your-own-table.md"


def test_the_command_in_a_failure_replays_the_trace_that_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table of the page, sliced by requested time. Its name is not that of another module."""
    [program] = programs(PAGE)
    (tmp_path / "late_table.py").write_text(program.replace("if barrier <= done", "if barrier <= requested"), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(AssertionError) as failure:
        import_module("late_table").test_my_table()

    [command] = re.findall("see it again: nbcc (.*)$", str(failure.value), re.MULTILINE)
    [kept] = Path("traces").glob("*.json")
    assert command == f"replay {kept} --on late_table:MyTable"
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(tmp_path)])  # as of a console script
    monkeypatch.delitem(sys.modules, "late_table")
    assert run(shlex.split(command)) == 1
    assert "late_table:MyTable: DISAGREED, the same was observed" in capsys.readouterr().out
