"""The help of every command, word by word; what it discovers is replaced by one row, and looked for below."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from nbcc.model.mechanisms import actions
from nbcc.simulator.cli import main, names, table

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
        monkeypatch.setattr(names, kind, lambda kind=kind: [(f"one-of-{kind}", "What it says of itself.")])
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
