"""`nbcc table TABLE archive`: moves old instants into the archived timeline."""

from __future__ import annotations

import click

from ..command import WholeNumber
from ..outcome import Exit
from .options import changes_table
from .service import say, service


@click.command(short_help="Move the oldest completed instants into the archived timeline.")
@click.option("--retain", type=WholeNumber(min=1), default=20, show_default=True, metavar="N",
              help="How many of the newest writes stay on the active timeline.")  # fmt: skip
@changes_table
def command(table: str, retain: int, dry_run: bool, as_json: bool) -> Exit:
    """Keep the active timeline short, because every write and every read lists it. Archiving does not change the rows
    of any read.

    The command archives neither the newest clean nor writes whose logs are not compacted yet. It archives no instant
    that was requested or completed after the oldest pending instant was requested. Therefore, compact the table and
    roll back failed writes first.

    \b
    Examples:
      nbcc table /data/trips archive --dry-run
      nbcc table /data/trips archive --retain 50
    """
    from nbcc.engine.audit.amounts import several

    with service(table, "archive", dry_run) as work:
        before = len(work.table.timeline())
        work.ran = list(work.table.archive(retained=retain))
    if not work.ran:
        return say(work, [f"nothing to archive: all {several(before, 'instant')} of the active timeline stay"], as_json)
    first, last = work.ran[0].requested, work.ran[-1].requested
    would = "would be archived" if dry_run else "archived"
    what, stay = several(len(work.ran), "instant"), before - len(work.ran)
    return say(work, [f"{what} {would}, requested from {first} to {last}; {stay} stay"], as_json)
