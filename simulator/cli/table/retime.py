"""`nbcc table TABLE retime`: give an instant a completion time that contradicts no other."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from ..command import answer, debug_option, json_option
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, done, dry_run_option, locked, pass_table


@click.command(short_help="Put the completion time of an instant right.")
@click.argument("instant", metavar="T")
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, instant: str, dry_run: bool, as_json: bool) -> Exit:
    """Give the instant requested at T the completion time that it should have.

    Of a completion in the future that is now; of one that another instant has, too, the next millisecond; of two
    completions the first. A pending instant of the future goes, with its files. Nothing is done where another
    instant's time lies in between, because slices, plans and reads go by the order of times.

    \b
    Examples:
      nbcc table /data/trips retime 20260101120000000 --dry-run
    """
    from nbcc.engine.clock import to_instant
    from nbcc.engine.repair import retime, retiming

    now = to_instant(int(datetime.now(UTC).timestamp() * 1000))
    with opened(table, "put times right in") as storage:
        made = retiming(audit_of(storage), instant, now)
        if not dry_run:
            with locked(storage):
                made = retiming(audit_of(storage), instant, now)
                retime(storage, made)
    if as_json:
        answer({"put": made.put, "deleted": list(made.deleted), "dry_run": dry_run})
        return Exit.AGREES
    done("put", [made.put] if made.put else [], dry_run)
    done("delete" if dry_run else "deleted", list(made.deleted), dry_run)
    return Exit.AGREES
