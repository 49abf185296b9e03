"""`nbcc table TABLE savepoint`: pins the table's state after an instant, or drops a savepoint."""

from __future__ import annotations

import click

from ..outcome import Exit
from .options import changes_table
from .service import OpenedService, say, service


@click.command(short_help="Pin the state after an instant, or drop a savepoint.")
@click.option("--instant", metavar="T", help="The instant requested at that time.  [default: the newest completed one]")
@click.option("--drop", is_flag=True, help="Drop the savepoint of the instant.  [default: the oldest]")
@changes_table
def command(table: str, instant: str | None, drop: bool, dry_run: bool, as_json: bool) -> Exit:
    """Protect the files that a read as of the instant's completion time needs, so that `restore` can return to that
    state.

    While the savepoint exists, instants requested after its instant are not archived. After the savepoint is dropped,
    the next clean may delete the protected files.

    \b
    Examples:
      nbcc table /data/trips savepoint --dry-run
      nbcc table /data/trips savepoint --drop --instant 20260101120000000
    """
    with service(table, "make a savepoint of", dry_run) as work:
        lines = [_drop(work, instant) if drop else _make(work, instant)]
    return say(work, lines, as_json)


def _make(work: OpenedService, instant: str | None) -> str:
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.services.savepoints import decoded

    saved = work.table.savepoint(instant=instant)
    work.ran.append(saved)
    paths = decoded(work.table.context, saved).paths
    return f"savepoint {saved.requested}: {several(len(paths), 'file')}, {size(work.size_of(paths))}"


def _drop(work: OpenedService, instant: str | None) -> str:
    dropped = work.table.delete_savepoint(instant=instant)
    return f"savepoint {dropped.requested}: {'would be dropped' if work.dry_run else 'dropped'}"
