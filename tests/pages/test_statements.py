"""docs/statements.md: each command of the table runs, ends as it should and prints what the table says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from nbcc.simulator.cli.main import run
from tests.builders.sources import ROOT
from tools.statements import page, statements

COMMANDS = sorted({pair for each in statements() for pair in each.shows})


def test_the_page_is_that_of_the_file() -> None:
    assert (ROOT / "docs" / "statements.md").read_text("utf-8") == page()
    assert len(statements()) >= 30
    assert {each.seed for each in statements()} == {"RFC-66", "RFC-22", "blog"}


@pytest.mark.parametrize(("command", "prints"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_prints_what_the_table_says(
    command: str, prints: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [program, *arguments] = shlex.split(command)
    assert program == "nbcc"
    code = run(arguments)
    printed = " ".join(capsys.readouterr().out.split())
    assert prints in printed
    assert code == int(prints.startswith("VIOLATED")), printed
