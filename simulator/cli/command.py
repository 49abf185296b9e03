"""Features that all commands share: --json, --debug, lists of names in the help, and output on standard output."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from nbcc.engine.terminal import folded, printable

F = TypeVar("F", bound=Callable[..., Any])


@dataclasses.dataclass
class Invocation:
    """The state of one invocation of `nbcc`. If `debug` is True, tracebacks of failures are printed."""

    debug: bool = False


def _remember_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and isinstance(ctx.obj, Invocation):
        ctx.obj.debug = True


def debug_option(function: F) -> F:
    """Add --debug, which prints the traceback of a failure."""
    return click.option(
        "--debug", is_flag=True, is_eager=True, expose_value=False, callback=_remember_debug,
        help="Show the traceback of a failure.",
    )(function)  # fmt: skip


json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")

# The default folder of traces, relative to the working folder.
TRACES = "traces"

traces_option = click.option(
    "--traces", type=click.Path(file_okay=False, path_type=Path), default=TRACES, show_default=True, metavar="DIR",
    help="Folder of saved traces.",
)  # fmt: skip


system_option = click.option(
    "--system", "drivers", multiple=True, metavar="COMMAND",
    help="A driver: a program that takes the steps, asked over a pipe (docs/drivers.md); may be repeated.",
)  # fmt: skip


def _load_extensions(ctx: click.Context, _param: click.Parameter, files: Sequence[str]) -> None:
    from nbcc.model.extensions import load, load_all

    with users_words():
        load_all()
        for file in files:
            load(file)


module_option = click.option(
    "--module", multiple=True, is_eager=True, expose_value=False, callback=_load_extensions, metavar="FILE.py",
    help="Load a mechanism, values of options, worlds or promises of your own; may be repeated.",
)  # fmt: skip


class Commands(click.Group):
    """A command group that suggests the most similar command if a name is misspelled."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as unknown:
            known = self.list_commands(ctx)
            near = get_close_matches(args[0], known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"the commands are {', '.join(known)}"
            raise click.UsageError(f"{unknown.message.rstrip('.')}; {hint}", ctx) from None


class FileToWrite(click.Path):
    """The parameter type of output files. A path in a missing or read-only folder is rejected before the command
    starts.
    """

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"the folder '{path.parent}' of '{path.name}' does not exist", param, ctx)
        if not os.access(path.parent, os.W_OK):
            self.fail(f"the folder '{path.parent}' is not writable", param, ctx)
        return path


class WholeNumber(click.IntRange):
    """A parameter type for whole numbers with bounds, with a plainer error message than click's."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(int(value), param, ctx))
        except ValueError:
            least = "" if self.min is None else f"; use {self.min} or more"
            self.fail(f"{value!r} is not a whole number{least}", param, ctx)


class FiniteNumber(click.FloatRange):
    """A parameter type for finite numbers with bounds; nan and infinity are rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


WORKERS = WholeNumber(min=1, max=256)  # each process needs memory of its own
on_option = click.option(
    "--on", "master", metavar="spark|URL",
    help="Search on a Spark cluster: `spark` starts one on this machine, URL is a master. Its workers need nbcc.",
)  # fmt: skip


@contextlib.contextmanager
def users_words() -> Iterator[None]:
    """Report a wrong name or file given by the user as bad input, not as a bug of nbcc."""
    try:
        yield
    except (ValueError, FileNotFoundError, IsADirectoryError) as error:
        raise click.ClickException(str(error)) from error


def echo(*lines: str, err: bool = False, whole: bool = False) -> None:
    """Print lines of text. A line may contain names and values of strangers: their control characters and line breaks
    are printed as escapes. No other function of the command line prints.

    On a terminal, a line that is wider than the terminal is folded between two words, unless `whole` is True.
    """
    stream = sys.stderr if err else sys.stdout  # None if the caller has closed it
    on_terminal = stream is not None and stream.isatty()
    for line in folded(lines, shutil.get_terminal_size().columns) if on_terminal and not whole else lines:
        click.echo(printable(line), err=err)


def answer(document: dict[str, Any]) -> None:
    """Print a JSON document, with its format number, as the output of the command."""
    echo(*json.dumps({"format": 1, **document}, indent=2, ensure_ascii=False).split("\n"), whole=True)


Section = tuple[str, Iterable[tuple[str, str]]]
MOST_EXPLAINED: Final = 40
"""Of a longer list a help shows the names alone, so that it stays readable."""


class Teaching(click.Command):
    """A click command whose help ends with lists of names.

    The lists come from the function `sections`, which is called only when the help is printed. `elsewhere` maps an
    option of other commands to the reason why this command has none.
    """

    def __init__(
        self,
        *args: Any,
        sections: Callable[[], Iterable[Section]] = tuple,
        elsewhere: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._sections, self._elsewhere = sections, elsewhere or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            if unknown.option_name not in self._elsewhere:
                raise
            raise click.UsageError(self._elsewhere[unknown.option_name], ctx) from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in self._sections():
            with formatter.section(title):
                listed = [*rows]
                if len(listed) <= MOST_EXPLAINED:
                    formatter.write_dl(listed)
                    continue
                shown = f"{', '.join(name for name, _ in listed)} (nbcc list {title.lower()} explains them)"
                indent = " " * formatter.current_indent
                formatter.write(textwrap.fill(shown, formatter.width, initial_indent=indent, subsequent_indent=indent,
                                              break_on_hyphens=False) + "\n")  # fmt: skip
        super().format_epilog(ctx, formatter)
