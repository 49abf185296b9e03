"""`nbcc validate`: reports whether a table's history is possible, and what is damaged or at risk."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .command import FileToWrite, answer, debug_option, echo, json_option, users_words
from .outcome import Exit
from .progress import on_stderr
from .tables import opened, storage_option

if TYPE_CHECKING:
    from nbcc.engine.storage import Storage
    from nbcc.simulator.audit import Report
    from nbcc.simulator.audit.seen import Known, TableListing

FORMATS: Final = ("sarif", "junit", "openmetrics", "openlineage")
MOST_WORKERS: Final = 2
"""This process and one helper: with a table of a million files both fit into 2 GiB."""


@click.command(short_help="Is a table's history possible? What is broken or at risk? No Spark, no JVM.")
@click.argument("table", metavar="TABLE|TRACE")
@click.option("--deep", is_flag=True, help="Also open the data files and compare them with their commits.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="In the format of another tool.")
@click.option("--at-most", "limits", multiple=True, metavar="FIGURE=VALUE",
              help="A threshold of the cadence, e.g. compaction=7d or logs=50; may be repeated.")  # fmt: skip
@click.option("--state", type=FileToWrite(), metavar="FILE",
              help="Remember the report in FILE; a second run judges what has changed.")  # fmt: skip
@click.option("--since", metavar="T", help="Report only faults of instants requested at T (17 digits) or later.")
@storage_option
@json_option
@debug_option
def command(
    table: str, deep: bool, form: str | None, limits: tuple[str, ...], state: Path | None, since: str | None,
    as_json: bool,
) -> Exit:  # fmt: skip
    """Validate TABLE, written by any engine, by its timeline, its commits and a listing; or TRACE by the model alone.

    TABLE is the path or URL (s3://, gs://, abfs://; credentials from the environment or --storage-option) of a Hudi
    table of version 8 or 9. The command changes nothing. Each diagnostic names the file, the consequence and the
    remedy. Each promise with evidence in the table is OK, BROKEN or UNDETERMINED. TRACE is a trace that nbcc has saved
    as a .json file.

    Exit codes: 0 nothing is broken, 1 broken or a threshold exceeded, 2 not a table, 3 undetermined, 4 the store or
    this machine could not answer. A fault AT RISK does not change the exit code.

    Figures of --at-most: compaction, clean, archive, savepoint, oldest-pending, metadata (ages: 90s, 5m, 2h, 7d), logs
    and pending (counts).

    \b
    Examples:
      nbcc validate /data/trips
      nbcc validate s3://lake/trips --deep --json
      nbcc validate /data/trips --format sarif > trips.sarif
      nbcc validate /data/trips --at-most compaction=7d --at-most logs=50
    """
    if table.endswith(".json") and Path(table).is_file():
        return _of_trace(table, as_json)
    from nbcc.simulator.audit import health, validate
    from nbcc.simulator.audit.formats import formatted
    from nbcc.simulator.audit.seen import TableListing, known_from, remember
    from nbcc.simulator.audit.text import render

    if as_json and form:
        raise click.UsageError("--json and --format exclude each other")
    with users_words():
        thresholds = health.thresholds(limits)
    with opened(table, "validate") as storage, on_stderr() as progress:
        known = known_from(state, table) if state else None
        listed = TableListing.of(storage) if state else None
        short = known is not None and (known.fine or not since) and not (as_json or form or limits or deep)
        if state and known and listed and short and (known_answer := _by_state(state, storage, table, known, listed)):
            echo(known_answer[1])
            return known_answer[0]
        workers = min(os.cpu_count() or 1, MOST_WORKERS)
        report = validate(storage, opened=deep, progress=progress, workers=workers, thresholds=thresholds)
    whole = replace(report, url=table)  # as the user typed it
    report = whole.since(since) if since else whole
    code = exit_of(report)
    if state is not None and listed is not None:
        if known is not None and (new := known.new_in(report)):
            echo(*(f"new: {diagnostic.rule} {diagnostic.file}" for diagnostic in new), err=True)
        remember(state, table, listed, whole, exit_of(replace(whole, health=health.Health())))
    if as_json:
        answer(report.to_mapping())
    elif form:
        echo(*formatted(form, report, report.health).split("\n"), whole=True)
    else:
        echo(*render(report).split("\n"))
    echo(storage.summary(), err=True)
    return code


def _by_state(state: Path, storage: Storage, table: str, known: Known, listed: TableListing) -> tuple[Exit, str] | None:
    """Judge what has changed since the last run. Returns None if the whole table must be judged."""
    from nbcc.engine.audit.amounts import several
    from nbcc.simulator.audit import validate
    from nbcc.simulator.audit.changed import unsettled
    from nbcc.simulator.audit.seen import ListingChange, remember

    change = ListingChange.between(known.listed, listed.lines)
    is_equal = known.properties == listed.properties
    if is_equal and not known.pending and not any(change):
        return Exit(known.code), f"{known.summary}; no file of the table has changed since {known.time}"
    if not known.fine or not is_equal:
        return None
    part = unsettled(storage, listed.sizes, *change)
    report = None if part is None else validate(part, rivals=False)
    if report is None or not report.fine:
        return None
    remember(state, table, listed, report, Exit.AGREES)
    judged = several(report.history.instants if report.history else 0, "instant")
    return Exit.AGREES, f"{known.summary}; judged what has changed since {known.time}: {judged}"


def exit_of(report: Report) -> Exit:
    codes = {"OK": Exit.AGREES, "BROKEN": Exit.VIOLATED, "UNDETERMINED": Exit.UNDETERMINED}
    return Exit.VIOLATED if report.health.late else codes[report.verdict]


def _of_trace(name: str, as_json: bool) -> Exit:
    from nbcc.simulator import trace as traces
    from nbcc.simulator.audit.trace import judge_trace

    with users_words():
        judgement = judge_trace(traces.load(name))
    if as_json:
        document: dict[str, Any] = judgement.to_mapping()
        answer(document)
    else:
        echo(*judgement.text.split("\n"))
    return Exit.AGREES if judgement.possible else Exit.VIOLATED
