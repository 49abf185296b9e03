"""`nbcc table TABLE restore`: go back to a savepoint."""

from __future__ import annotations

import click

from ..command import debug_option, json_option
from ..outcome import Exit
from .options import dry_run_option, pass_table
from .service import say, service


@click.command(short_help="Go back to a savepoint: undo what completed since, and what is pending.")
@click.option("--to", "instant", metavar="T",
              help="The savepoint of the instant requested at that time.  [default: the newest]")  # fmt: skip
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, instant: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Undo what completed after the savepoint's instant, and every write and compaction that is pending.

    From the moment its plan is published no reader of nbcc sees what it undoes, and writers that are under way are
    refused; others begin anew at once. A restore that somebody left is finished first, and nothing else is done then.
    Reads as of a time that was undone are refused. Readers of other engines see the steps in between.

    \b
    Examples:
      nbcc table /data/trips restore --dry-run
      nbcc table /data/trips restore --to 20260101120000000
    """
    from nbcc.engine.timeline.restores import load_restore_plan

    with service(table, "restore", dry_run) as work:
        done = work.table.run("restore", instant=instant)
        work.ran = [done] if done else []
        plan = load_restore_plan(work.storage, done.requested) if done else None
    undone = plan.undone if plan else ()
    would = "would undo" if dry_run else "undid"
    lines = [f"{would} the {action} {requested}" for requested, action in undone]
    nothing = "nothing to undo since the savepoint"
    lines += [f"restore {plan.requested}: back to {plan.savepoint}" if plan else nothing]
    return say(work, lines, as_json, undone=[requested for requested, _ in undone])
