"""`nbcc table TABLE timeline`: lists the instants of a table."""

from __future__ import annotations

import click

from ..command import WholeNumber, answer, echo
from ..outcome import Exit
from ..tables import opened
from .options import reads_table


@click.command(short_help="The active timeline, newest instants last.")
@click.option("--last", type=WholeNumber(min=1), metavar="N", help="Only the newest N by requested time.")
@click.option("--pending", is_flag=True, help="Only instants that have not completed.")
@reads_table
def command(table: str, last: int | None, pending: bool, as_json: bool) -> Exit:
    """List the instants of TABLE by requested time, each with its completion time, action and state."""
    from nbcc.engine.definition.load import load_properties
    from nbcc.engine.timeline import load
    from nbcc.engine.timeline.instant import COLUMNS

    with opened(table, "list the timeline of") as storage:
        load_properties(storage)
        timeline = load(storage)
    shown = list(timeline.pending if pending else timeline.instants)[-last if last else 0 :]
    if as_json:
        answer({"instants": [dict(zip(COLUMNS, instant.row, strict=True)) for instant in shown]})
        return Exit.AGREES
    for instant in shown:
        echo(f"{instant.requested}  {instant.completed or '-':17}  {instant.action:13} {instant.state}")
    echo(*str(timeline).split("\n"))
    return Exit.AGREES
