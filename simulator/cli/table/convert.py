"""`nbcc table TABLE convert`: changes how the commits of a table are decided."""

from __future__ import annotations

import click

from ..outcome import Exit
from .options import changes_table
from .service import say, service


@click.command(short_help="Change how commits are decided, while no process writes.")
@click.option("--decision", required=True, metavar="D", help="lock, log, shared or free (docs/locks.md).")
@click.option("--publication", default="ascending", metavar="P", help="ascending, or with free also parallel.")
@changes_table
def command(table: str, decision: str, publication: str, dry_run: bool, as_json: bool) -> Exit:
    """Change the options nbcc.decision and nbcc.publication of the table.

    End all processes that write to the table first: they must open it again. So must readers if the publication
    changes. The command is refused while an instant is
    pending or announced, or while another process holds the table's lock.

    \b
    Examples:
      nbcc table /data/trips convert --decision free
      nbcc table /data/trips convert --decision free --publication parallel
      nbcc table /data/trips convert --dry-run --decision lock
    """
    with service(table, "convert", dry_run) as work:
        from nbcc.engine.actions import convert
        from nbcc.engine.config.coordination import mode_of

        before, after = work.table.config.coordination.mode, mode_of(decision, publication)
        done = convert.run(work.table.context, work.table.config, decision, publication)
        verb = "would be converted" if dry_run else "converted"
        line = f"{verb} from nbcc.decision={before} to {after}" if done else f"nbcc.decision is {after} already"
    return say(work, [line], as_json, converted=done)
