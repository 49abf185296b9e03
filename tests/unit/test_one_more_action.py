"""A new action is one file in the model, one in the engine and one row in the mapping; everything else finds it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.engine import actions as operations
from nbcc.model import mechanisms
from nbcc.simulator.cli.main import run
from nbcc.simulator.crosscheck.mapping import MAPPING, Row

IN_THE_MODEL = '''
"""Pacemakers: an actor that wants an open window to end takes a time and publishes nothing."""

from typing import Any, NamedTuple

from nbcc.model.kernel.lock import LOCK_IS_FREE
from nbcc.model.machine.mechanism import Kind, Mechanism
from nbcc.model.machine.transition import Action, transition


class Pacemaker(NamedTuple):
    step: str = "idle"
    extra: tuple[Any, ...] = ()


def compose(composition):
    for me in composition.of("pacemaker"):
        composition.add(transition("pacemaker_takes_time", me, at="idle", to="done", guards=(LOCK_IS_FREE,),
                                   effect=take_time, changes=("own", "clock")))


def take_time(clock):
    return {"clock": clock + 1}


MECHANISM = Mechanism(
    compose=compose,
    kinds=(Kind(name="pacemaker", prefix="p", first=Pacemaker(), rests=("idle", "done"), drawn=1),),
    actions=(Action("pacemaker_takes_time", "takes a time that nobody publishes", "{actor} takes a time"),),
)
'''
IN_THE_ENGINE = '''
"""Take a time and publish nothing."""

from nbcc.engine.lock import held


def run(context, config):
    with held(context.lock):
        {take}
'''
WORLD = """
format = 1
about = "The demo's world, and a pacemaker."
[actors]
writer = 2
compactor = 1
pacemaker = 1
"""


@pytest.fixture(params=["context.clock.take()"])
def take(request: pytest.FixtureRequest) -> str:
    """What the operation does under its lock."""
    return str(request.param)


@pytest.fixture(autouse=True)
def pacemaker(take: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The three additions, and a folder with a world that has a pacemaker."""
    for package, name, text in (
        (mechanisms, "pacemaker", IN_THE_MODEL),
        (operations, "take_time", IN_THE_ENGINE.format(take=take)),
    ):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
    row = Row("pacemaker_takes_time", "take_time", starts=True)
    MAPPING.append(row)
    monkeypatch.chdir(tmp_path)
    Path("paced.toml").write_text(WORLD, encoding="utf-8")
    yield
    MAPPING.remove(row)


def test_it_is_explored(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explore", "paced.toml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert run(["explore", "demo", "--json"]) == 0
    assert told["distinct"] > json.loads(capsys.readouterr().out)["distinct"]


@pytest.mark.parametrize("command", [["check", "--help"], ["replay", "--help"], ["list", "actions"]])
def test_it_is_named(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 0
    assert "pacemaker_takes_time" in capsys.readouterr().out


def test_it_is_checked_on_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "paced.toml", "--examples", "20"]) == 0
    assert "AGREED in " in capsys.readouterr().out


@pytest.mark.parametrize("take", ["pass"], indirect=True)
def test_an_engine_that_does_not_do_it_is_caught_and_the_trace_replays(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "paced.toml", "--examples", "20"]) == 1
    out = capsys.readouterr().out
    assert "DISAGREED after " in out
    assert "takes time" in out
    (handle,) = re.findall(r"see it again: nbcc replay ([0-9a-f]{6})", out)
    assert run(["replay", handle, "--on", "engine", "--expect", "disagreed"]) == 0
    assert run(["replay", handle, "--on", "model", "--expect", "agreed"]) == 0
