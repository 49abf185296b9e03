"""`nbcc table TABLE savepoint`: pin a state, list what is pinned, or drop it."""

from __future__ import annotations

import click

from ..command import debug_option, json_option
from ..outcome import Exit
from .options import dry_run_option, pass_table
from .service import Service, say, service


@click.command(short_help="Pin the state after an instant, or drop a savepoint.")
@click.option("--instant", metavar="T", help="The instant requested at that time.  [default: the newest completed one]")
@click.option("--drop", is_flag=True, help="Drop the savepoint of the instant.  [default: the oldest]")
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, instant: str | None, drop: bool, dry_run: bool, as_json: bool) -> Exit:
    """Keep the files that a read as of the instant's completion opens, from cleaning and for `restore`.

    Nothing is archived past a savepoint. What it kept goes with a clean after it was dropped.

    \b
    Examples:
      nbcc table /data/trips savepoint --dry-run
      nbcc table /data/trips savepoint --drop --instant 20260101120000000
    """
    with service(table, "make a savepoint of", dry_run) as work:
        lines = [_drop(work, instant) if drop else _make(work, instant)]
    return say(work, lines, as_json)


def _make(work: Service, instant: str | None) -> str:
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.services.savepoints import said

    saved = work.table.run("savepoint", instant=instant)
    work.ran.append(saved)
    paths = said(work.table.context, saved).paths
    return f"savepoint {saved.requested}: {several(len(paths), 'file')}, {size(work.size_of(paths))}"


def _drop(work: Service, instant: str | None) -> str:
    dropped = work.table.run("delete_savepoint", instant=instant)
    return f"savepoint {dropped.requested}: {'would be dropped' if work.dry_run else 'dropped'}"
