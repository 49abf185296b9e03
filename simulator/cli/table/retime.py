"""`nbcc table TABLE retime`: corrects the completion time of an instant."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from ..command import answer
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, changes_table, done, foreseen, locked, quarantining


@click.command(short_help="Correct the completion time of an instant.")
@click.argument("instant", metavar="T")
@changes_table
def command(table: str, instant: str, dry_run: bool, as_json: bool) -> Exit:
    """Correct the completion time of the instant whose requested time is T.

    A completion time in the future is changed to the current time. A completion time equal to another instant's time is
    increased by one millisecond. If an instant has two completion times, the earlier one remains. A pending instant
    with a requested time in the future is moved into the quarantine, with its files. The command refuses a change that
    would cross another instant's time, because slices, plans and reads depend on the order of times.

    \b
    Examples:
      nbcc table /data/trips retime 20260101120000000 --dry-run
    """
    from nbcc.engine.clock import to_instant
    from nbcc.engine.repair import retime, retiming

    now = to_instant(int(datetime.now(UTC).timestamp() * 1000))
    with opened(table, "correct the times of") as storage:
        made = retiming(audit_of(storage), instant, now)
        foreseen(storage, f"correct the times of {instant}", lambda planned: retime(planned, made), retimes=True)
        if not dry_run:
            with locked(storage):
                made = retiming(audit_of(storage), instant, now)
                retime(quarantining(storage), made)
    if as_json:
        answer({"put": made.put, "deleted": [*made.checkpoints, *made.deleted], "dry_run": dry_run})
        return Exit.AGREES
    done("put", [made.put] if made.put else [], dry_run)
    done("delete" if dry_run else "deleted", [*made.checkpoints], dry_run)
    done("quarantine" if dry_run else "quarantined", [*made.deleted], dry_run)
    return Exit.AGREES
