"""The help of every command, word by word; what it discovers is replaced by one row, and looked for below. Options that
would have no effect are refused.
"""

from __future__ import annotations

from functools import partial

import click
import pytest
from click.testing import CliRunner

from nbcc.model.mechanisms import actions
from nbcc.simulator.cli import main, names, table
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit

from .snapshots import matches

WIDTH = {"COLUMNS": "110", "NO_COLOR": "1"}


def help_of(*command: str) -> str:
    ran = CliRunner().invoke(main.nbcc, [*command, "--help"], prog_name="nbcc", terminal_width=110)
    assert ran.exit_code == 0, ran.output
    return ran.output


@pytest.fixture
def one_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list of discovered names has one row."""
    for kind in ("worlds", "protocols", "promises", "actions", "scenarios"):
        rows = [(f"one-of-{kind}", "What it says of itself.")]
        monkeypatch.setitem(names.COMPLETED, kind, partial(list, rows))
    monkeypatch.setattr(type(table.command), "list_commands", lambda self, ctx: ["timeline"])


@pytest.mark.usefixtures("one_of_each")
@pytest.mark.parametrize("command", ["", *main.COMMANDS])
def test_help_reads_as_it_did(command: str) -> None:
    matches(f"help/{command or 'nbcc'}.txt", help_of(*command.split()))


@pytest.mark.parametrize("command", ["check", "replay"])
def test_help_lists_every_action_of_the_model(command: str) -> None:
    text = help_of(command)
    for action in actions():
        assert action in text


def test_every_command_has_a_line_in_the_overview() -> None:
    text = help_of()
    for name in main.COMMANDS:
        command = main.nbcc.get_command(click.Context(main.nbcc), name)
        assert command is not None
        assert command.get_short_help_str(200) in " ".join(text.split())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("check demo --on model --examples 1 --workers 2", "need --seeds K"),
        ("check demo --on model --examples 1 --across spark", "need --seeds K"),
        ("check demo --on model --examples 1 --share 0.5", "needs --tour"),
        ("check demo --on model --examples 1 --seeds 1 --summary s.txt", "leave out --seeds"),
    ],
)
def test_an_option_without_the_one_it_belongs_to(asked: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(asked.split()) is Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert (out, message in err) == ("", True), err


@pytest.mark.parametrize("asked", ["verdicts --on nonsense", "check demo --on model --seeds 1 --across nonsense"])
def test_a_master_that_is_none_is_refused_before_a_jvm_starts(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(asked.split()) is Exit.BAD_INPUT
    assert "'nonsense' is not a Spark master" in capsys.readouterr().err
