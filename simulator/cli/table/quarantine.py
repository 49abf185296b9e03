"""`nbcc table TABLE quarantine`: lists what repairs removed, puts it back, or deletes it."""

from __future__ import annotations

import click

from ..command import answer, echo, users_words
from ..outcome import Exit
from ..tables import opened
from .options import changes_table, done, locked, now


@click.command(short_help="What repairs removed; --restore puts it back, --purge deletes it.")
@click.option("--restore", "restored", metavar="NAME", help="Put the files of this repair back.")
@click.option("--purge", "purged", metavar="NAME", help="Delete the files of this repair. This cannot be undone.")
@click.option("--min-age", default="7d", show_default=True, metavar="AGE",
              help="Purge only a repair of this age (90s, 5m, 2h, 7d).")  # fmt: skip
@changes_table
def command(
    table: str, restored: str | None, purged: str | None, min_age: str, dry_run: bool, as_json: bool
) -> Exit:  # fmt: skip
    """List the quarantine: the files that orphans, rollback, retime and plans have removed from the table, by repair.

    The files are below .hoodie/.nbcc/quarantine, where no reader looks. --restore also takes back what the repair put
    in their place. Purge them once no row is missing: a repair younger than --min-age is not purged.

    \b
    Examples:
      nbcc table /data/trips quarantine
      nbcc table /data/trips quarantine --restore 20260101120000000
    """
    from dataclasses import asdict

    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.repair.quarantine import find_quarantined, purge, put_back, quarantined
    from nbcc.simulator.audit.health import seconds_of

    with users_words():
        age_ms = int(1000 * seconds_of(min_age))
    if restored and purged:
        raise click.UsageError("--restore and --purge exclude each other")
    with opened(table, "read the quarantine of") as storage:
        name, verb = (purged, "purge") if purged else (restored, "put back")
        part = find_quarantined(storage, name, verb) if name else None
        if part is not None and not dry_run:
            with locked(storage):
                if purged:
                    purge(storage, part, now(), age_ms)
                else:
                    put_back(storage, part)
        parts = quarantined(storage)
    if as_json:
        changed = [*part.files] if part else []
        answer({"quarantine": [asdict(each) for each in parts], "changed": changed, "dry_run": dry_run})
        return Exit.AGREES
    if part is not None:
        past = {"purge": "purged", "put back": "put back"}[verb]
        done(verb if dry_run else past, [*part.files], dry_run)
    for each in parts:
        echo(f"{each.name}  {several(len(each.files), 'file')}, {size(each.size)}")
        for path in each.files:
            echo(f"  {path}")
    echo(several(len(parts), "repair"))
    return Exit.AGREES
