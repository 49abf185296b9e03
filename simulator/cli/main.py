"""The command `nbcc`: runs a sub-command, and converts every failure to one message and an exit code."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import click

from nbcc.engine.terminal import printable

from .command import Commands, Invocation, debug_option, echo
from .outcome import Exit

# In the order in which a newcomer needs them. Each is a module of this package.
COMMANDS = (
    "demo", "check", "fill", "explore", "judge", "prove", "verdicts", "replay", "inspect", "why", "validate",
    "incident", "table", "serve", "simulate", "spec", "explain", "list", "init", "doctor",
)  # fmt: skip


class _Commands(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".{cmd_name}", __package__).command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="nbcc", message="%(package)s %(version)s")
@debug_option
@click.option(
    "--limit", "limits", multiple=True, metavar="NAME=N",
    help="Change a limit on what is read from files, such as metadata_bytes=134217728.",
)  # fmt: skip
def nbcc(limits: Sequence[str]) -> None:
    """Model, simulator and PySpark engine of Apache Hudi's completion-time timeline.

    \b
    Start here:
      nbcc demo           a tour of two minutes: an option that loses a row
      nbcc explore demo   every interleaving of a small world
      nbcc check demo     random interleavings of engine and model, compared

    Exit codes: 0 AGREED or HOLDS, 1 VIOLATED or DISAGREED, 2 bad input, 3 UNDETERMINED, 4 could not run, 130
    interrupted. Only the answer is printed on standard output.
    """
    if limits:
        from nbcc.engine.limits import limits_of, set_limits

        set_limits(limits_of(limits))


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the console script `nbcc`."""
    warnings.showwarning = _warn
    if sys.stdout is not None:
        sys.stdout = _BreakablePipe(sys.stdout)
    code = run(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is not None:
        sys.stdout.flush()
    gc.freeze()  # the last collection over the objects of a search would take up to a second
    sys.exit(int(code))


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning of the engine without the line of source that Python adds."""
    echo(f"Warning: {message}", err=True)


class _BreakablePipe:
    """A wrapper of standard output for pipes that the reader closes early, as in `nbcc list actions | head -1`.

    After the reader closes the pipe, output is dropped, but the command runs to its end and returns its normal exit
    code.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text))
        except BrokenPipeError:
            _drop_output(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            _drop_output(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _drop_output(stream: Any) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def run(arguments: Sequence[str]) -> Exit:
    """Run one command line, and return its exit code."""
    state = Invocation()
    try:
        outcome: Any = nbcc.main(args=[*arguments], prog_name="nbcc", standalone_mode=False, obj=state)
    except (KeyboardInterrupt, click.Abort) as stopped:
        if isinstance(stopped.__cause__, EOFError) and not sys.stdin.isatty():  # click treats every EOFError as Ctrl-D
            return _explain(stopped.__cause__)
        echo("interrupted", err=True)
        return Exit.INTERRUPTED
    except SystemExit:  # click exits on a broken pipe when it writes to the original standard output
        return _explain(BrokenPipeError())
    except Exception as error:  # users see a sentence for every failure
        if state.debug:
            echo(*traceback.format_exc().rstrip("\n").split("\n"), err=True)
        return _explain(error)
    return Exit(outcome or 0)


def _explain(error: Exception) -> Exit:
    if isinstance(error, click.exceptions.Exit):
        return Exit(error.exit_code)
    if isinstance(error, click.ClickException):
        shown, message = io.StringIO(), error.format_message()
        error.show(shown)  # click removes the escape sequences of a terminal, and leaves line breaks
        text = shown.getvalue().rstrip("\n").replace(click.unstyle(message), printable(message))
        echo(*text.split("\n"), err=True)
        return Exit.BAD_INPUT
    if isinstance(error, BrokenPipeError):
        _drop_output(sys.stdout)
        return Exit.AGREES
    if isinstance(error, ImportError):
        error = _missing_extra(error)
    if (code := _typed(error)) is not None:
        echo(f"Error: {error}", err=True)
        return code
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        echo(f"Error: {error.strerror or error}{where}", err=True)
        return Exit.COULD_NOT_RUN
    with tempfile.NamedTemporaryFile("w", prefix="nbcc-", suffix=".log", delete=False) as log:
        traceback.print_exception(error, file=log)
    what = " ".join(" ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]).split())[:300]
    from nbcc.model import extensions

    place = " or in the extension ".join(["nbcc", *extensions.loaded()])
    echo(f"Error: nbcc failed; this is a bug in {place}: {what} (log: {log.name}; --debug prints it here)", err=True)
    return Exit.COULD_NOT_RUN


def _missing_extra(error: ImportError) -> Exception:
    from nbcc.engine.extras import missing_extra

    return missing_extra(error) or error


def _typed(error: Exception) -> Exit | None:
    from nbcc.engine.errors import CannotRun, NbccError

    from ..lockstep.peers.process import PeerMissing
    from ..users_factory import CannotPlay

    if isinstance(error, (CannotRun, PeerMissing)):
        return Exit.COULD_NOT_RUN
    return Exit.BAD_INPUT if isinstance(error, (CannotPlay, NbccError)) else None
