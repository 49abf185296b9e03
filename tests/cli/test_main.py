"""Exit codes and error messages of the command line, for any error of a command."""

from __future__ import annotations

import itertools
from pathlib import Path

import click
import pytest

from nbcc.engine.errors import BadInput, CannotRun
from nbcc.simulator.cli import main
from nbcc.simulator.cli.command import debug_option
from nbcc.simulator.cli.outcome import Exit, gravest


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException | None = None, code: Exit | None = None) -> None:
    """Replace the command `list` by one that fails, or ends with this code."""

    @click.command()
    @debug_option
    def command() -> Exit | None:
        if error is not None:
            raise error
        return code

    monkeypatch.setattr(main._Commands, "get_command", lambda *_: command)


@pytest.mark.parametrize("code", [*Exit, None])
def test_the_exit_code_is_the_commands_outcome(monkeypatch: pytest.MonkeyPatch, code: Exit | None) -> None:
    failing(monkeypatch, code=code)
    assert main.run(["list"]) == (code or Exit.AGREES)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BadInput("read at 5", "the first commit is 7", "ask for 7 or later"), 2,
         "Error: Asked to read at 5, but the first commit is 7: ask for 7 or later.\n"),
        (CannotRun("start Spark", "there is no Java", "install one"), 4,
         "Error: Asked to start Spark, but there is no Java: install one.\n"),
        (KeyboardInterrupt(), 130, "\ninterrupted\n"),
    ],
)  # fmt: skip
def test_a_failure_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, message: str
) -> None:
    failing(monkeypatch, error)
    assert main.run(["list"]) == code
    assert capsys.readouterr() == ("", message)


def test_our_own_bug_is_one_line_with_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(monkeypatch, KeyError("surprise"))
    assert main.run(["list"]) == Exit.COULD_NOT_RUN
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "KeyError: 'surprise'" in err
    log = Path(err.partition("(log: ")[2].partition(";")[0])
    assert "Traceback" in log.read_text("utf-8")
    log.unlink()


@pytest.mark.parametrize("arguments", [["--debug", "list"], ["list", "--debug"]])
def test_debug_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    failing(monkeypatch, CannotRun("start Spark", "there is no Java", "install one"))
    assert main.run(arguments) == Exit.COULD_NOT_RUN
    assert "Traceback" in capsys.readouterr().err


def test_an_unknown_command_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["exlore"]) == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert "No such command 'exlore'" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("several", [*itertools.permutations([Exit.VIOLATED, Exit.UNDETERMINED, Exit.AGREES])])
def test_of_several_outcomes_the_gravest_counts(several: tuple[Exit, ...]) -> None:
    assert gravest(several) == Exit.VIOLATED
    assert gravest([*several, Exit.COULD_NOT_RUN]) == Exit.COULD_NOT_RUN
    assert gravest(outcome for outcome in several if outcome is not Exit.VIOLATED) == Exit.UNDETERMINED
    assert gravest([]) == Exit.UNDETERMINED
