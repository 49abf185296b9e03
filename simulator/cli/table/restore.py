"""`nbcc table TABLE restore`: restores a table to a savepoint."""

from __future__ import annotations

import click

from ..outcome import Exit
from .options import changes_table
from .service import say, service


@click.command(short_help="Return to a savepoint: undo later and pending instants.")
@click.option("--to", "instant", metavar="T",
              help="The savepoint of the instant requested at that time.  [default: the newest]")  # fmt: skip
@changes_table
def command(table: str, instant: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Undo all instants that completed after the savepoint's instant, and all pending writes and compactions.

    Once the plan is published, readers of nbcc ignore the undone instants, running writers are refused, and new writers
    can start. If a restore is pending, the command only finishes the pending restore. Reads as of a time that the
    restore has undone are refused. Readers of other engines see intermediate states while the restore runs.

    \b
    Examples:
      nbcc table /data/trips restore --dry-run
      nbcc table /data/trips restore --to 20260101120000000
    """
    from nbcc.engine.timeline.restores import load_restore_plan

    with service(table, "restore", dry_run) as work:
        done = work.table.restore(instant=instant)
        work.ran = [done] if done else []
        plan = load_restore_plan(work.storage, done.requested) if done else None
    undone = plan.undone if plan else ()
    would = "would undo" if dry_run else "undid"
    lines = [f"{would} the {action} {requested}" for requested, action in undone]
    nothing = "nothing to undo since the savepoint"
    lines += [f"restore {plan.requested}: back to {plan.savepoint}" if plan else nothing]
    return say(work, lines, as_json, undone=[requested for requested, _ in undone])
