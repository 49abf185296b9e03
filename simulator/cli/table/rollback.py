"""`nbcc table TABLE rollback`: undoes failed writes."""

from __future__ import annotations

import click

from ..outcome import Exit
from .options import changes_table
from .service import OpenedService, say, service


@click.command(short_help="Undo writes whose writers have failed.")
@click.option("--instant", metavar="T", help="Only the write requested at that time.")
@changes_table
def command(table: str, instant: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Remove the files of pending writes whose heartbeat is older than two minutes, then the instants of these writes.

    A write is also pending if its completed file was removed. The files are therefore moved into the quarantine, and
    `quarantine --restore` moves them back. No reader sees the files of a pending write, so a rollback does not change
    the result of any read. Running writes are skipped, and completed writes are never undone. A failed compaction needs
    no rollback: `compact` resumes its plan.

    \b
    Examples:
      nbcc table /data/trips rollback --dry-run
      nbcc table /data/trips rollback --instant 20260101120000000
    """
    from nbcc.engine.timeline import load_rollback_plan

    with service(table, "roll back", dry_run, quarantine=True) as work:
        work.ran = list(work.table.rollback(instant=instant))
        undone = [load_rollback_plan(work.storage, done.requested) for done in work.ran]
        lines = [
            f"rollback {done.requested}: {'would undo' if dry_run else 'undid'} the {plan.action} {plan.target}"
            for done, plan in zip(work.ran, undone, strict=True)
        ]
        alive = _pending_writes(work) if instant is None else []
    lines += [f"left alone: the {action} {requested}, whose writer is alive" for action, requested in alive]
    nothing = ["nothing to roll back: no write has failed"] if not work.ran else []
    return say(work, [*nothing, *lines], as_json, undone=[plan.target for plan in undone])


def _pending_writes(work: OpenedService) -> list[tuple[str, str]]:
    return [
        (i.action, i.requested)
        for i in work.table.timeline()
        if not i.completed and i.action in ("deltacommit", "commit")
    ]
