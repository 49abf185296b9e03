"""`nbcc table TABLE orphans`: lists or moves away data files that belong to no completed write."""

from __future__ import annotations

import click

from ..command import answer, echo
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, changes_table, done, foreseen, locked, quarantining, refuse_foreign


@click.command(short_help="Data files of no completed write; --quarantine moves them away.")
@click.option("--quarantine", is_flag=True, help="Move them into the quarantine, except files that may be needed.")
@changes_table
def command(table: str, quarantine: bool, dry_run: bool, as_json: bool) -> Exit:
    """List orphans: data files whose instant is on no timeline (active or archived), or whose completed instant does
    not list them.

    An instant is on no timeline if its write failed, or if its timeline files were removed. Orphans are therefore
    moved, and `quarantine --restore` moves them back. A file stays if a lost archive may list it, or if another instant
    proves that its write completed.

    nbcc's reads ignore orphans. Apache Hudi's reads return the rows of orphans as soon as newer instants are archived:
    Hudi then regards the instants of the orphans as archived and committed. The exit code is 1 if orphans remain.
    """
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.repair import orphan_files

    with opened(table, "find the orphans of") as storage:
        orphans = orphan_files(audit_of(storage))
        if quarantine:
            refuse_foreign(storage)
        if quarantine and orphans:
            wanted = [orphan.path for orphan in orphans if not orphan.kept]
            foreseen(storage, "move orphans away", lambda planned: planned.delete_all(wanted))
        if quarantine and not dry_run and orphans:
            # A write whose instant is not on the timeline is never published, and a commit lists its files for good.
            with locked(storage, is_proved=True):
                orphans = orphan_files(audit_of(storage))
                quarantining(storage).delete_all([orphan.path for orphan in orphans if not orphan.kept])
    moved = [orphan.path for orphan in orphans if quarantine and not orphan.kept]
    left = [orphan for orphan in orphans if dry_run or orphan.path not in moved]
    if as_json:
        rows = [{"file": o.path, "size": o.size, "because": o.because, "kept": o.kept} for o in orphans]
        answer({"orphans": rows, "quarantined": [] if dry_run else moved, "dry_run": dry_run})
        return Exit.VIOLATED if left else Exit.AGREES
    done("quarantine" if dry_run else "quarantined", moved, dry_run)
    for orphan in orphans if not quarantine else (o for o in orphans if o.kept):
        echo(f"{orphan.path}  {size(orphan.size)}: {orphan.because}")
        if orphan.kept:
            echo(f"  not moved: {orphan.kept}")
    echo(f"{several(len(orphans), 'orphan')}, {size(sum(o.size for o in orphans))}")
    return Exit.VIOLATED if left else Exit.AGREES
