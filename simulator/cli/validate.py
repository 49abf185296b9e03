"""`nbcc validate`: can this table's history be, and what is broken or at risk in it now?"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .command import answer, debug_option, json_option, users_words
from .outcome import Exit
from .progress import on_stderr
from .tables import opened, storage_option

if TYPE_CHECKING:
    from nbcc.simulator.validate import Report

MOST_WORKERS: Final = 2
"""This process and one more: what each of them holds fits into 2 GiB beside a table of a million files."""


@click.command(short_help="Can a table's history be? What is broken or at risk in it? No Spark, no JVM.")
@click.argument("table", metavar="TABLE|TRACE")
@click.option("--deep", is_flag=True, help="Open the data files, too: are they whole, do they hold what commits say?")
@storage_option
@json_option
@debug_option
def command(table: str, deep: bool, as_json: bool) -> Exit:
    """Judge TABLE, whoever wrote it, by its timeline, its commits and a listing; or TRACE by the model alone.

    TABLE is a path or a URL (s3://, gs://, abfs://; credentials from the environment or --storage-option), a Hudi
    table of version 8 or 9. Nothing in it is changed. Each diagnostic names its file, why it matters, and what to do;
    each promise that a table can show is OK, BROKEN or UNDETERMINED. TRACE is a .json file that nbcc has written.

    Exit codes: 0 nothing is broken, 1 broken, 2 not a table, 3 undetermined.

    \b
    Examples:
      nbcc validate /data/trips
      nbcc validate s3://lake/trips --deep --json
    """
    if table.endswith(".json") and Path(table).is_file():
        return _of_trace(table, as_json)
    from nbcc.simulator.validate import validate
    from nbcc.simulator.validate.text import render

    with opened(table, "validate") as storage, on_stderr() as progress:
        workers = min(os.cpu_count() or 1, MOST_WORKERS)
        judged = validate(storage, opened=deep, progress=progress, workers=workers)
    found = replace(judged, url=table)  # as it was typed
    if as_json:
        answer(found.to_mapping())
    else:
        click.echo(render(found))
    click.echo(storage.summary(), err=True)
    return exit_of(found)


def exit_of(found: Report) -> Exit:
    """What a judgement means for the exit code."""
    codes = {"OK": Exit.AGREES, "BROKEN": Exit.VIOLATED, "UNDETERMINED": Exit.UNDETERMINED}
    return codes[found.verdict]


def _of_trace(name: str, as_json: bool) -> Exit:
    """Whether the model can take every step of a trace."""
    from nbcc.simulator import trace as traces
    from nbcc.simulator.validate.trace import judge_trace

    with users_words():
        found = judge_trace(traces.load(name))
    if as_json:
        document: dict[str, Any] = found.to_mapping()
        answer(document)
    else:
        click.echo(found.text)
    return Exit.AGREES if found.possible else Exit.VIOLATED
