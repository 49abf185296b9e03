"""`nbcc validate`: reports whether a table's history is possible, and what is damaged or at risk."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .command import answer, debug_option, echo, json_option, users_words
from .outcome import Exit
from .progress import on_stderr
from .tables import opened, storage_option

if TYPE_CHECKING:
    from nbcc.simulator.validate import Report

MOST_WORKERS: Final = 2
"""This process and one helper: with a table of a million files both fit into 2 GiB."""


@click.command(short_help="Is a table's history possible? What is broken or at risk? No Spark, no JVM.")
@click.argument("table", metavar="TABLE|TRACE")
@click.option(
    "--deep", is_flag=True, help="Also open the data files and compare them with their commits."
)
@storage_option
@json_option
@debug_option
def command(table: str, deep: bool, as_json: bool) -> Exit:
    """Validate TABLE, written by any engine, by its timeline, its commits and a listing; or TRACE by the model alone.

    TABLE is the path or URL (s3://, gs://, abfs://; credentials from the environment or --storage-option) of a Hudi
    table of version 8 or 9. The command changes nothing. Each diagnostic names the file, the consequence and the
    remedy. Each promise with evidence in the table is OK, BROKEN or UNDETERMINED. TRACE is a trace that nbcc has saved
    as a .json file.

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
        report = validate(storage, opened=deep, progress=progress, workers=workers)
    report = replace(report, url=table)  # as the user typed it
    if as_json:
        answer(report.to_mapping())
    else:
        echo(*render(report).split("\n"))
    echo(storage.summary(), err=True)
    return exit_of(report)


def exit_of(report: Report) -> Exit:
    """Return the exit code for a validation report."""
    codes = {"OK": Exit.AGREES, "BROKEN": Exit.VIOLATED, "UNDETERMINED": Exit.UNDETERMINED}
    return codes[report.verdict]


def _of_trace(name: str, as_json: bool) -> Exit:
    from nbcc.simulator import trace as traces
    from nbcc.simulator.validate.trace import judge_trace

    with users_words():
        judgement = judge_trace(traces.load(name))
    if as_json:
        document: dict[str, Any] = judgement.to_mapping()
        answer(document)
    else:
        echo(*judgement.text.split("\n"))
    return Exit.AGREES if judgement.possible else Exit.VIOLATED
