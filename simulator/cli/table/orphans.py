"""`nbcc table TABLE orphans`: lists or deletes data files that belong to no completed write."""

from __future__ import annotations

import click

from ..command import answer
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, changes_table, done, locked


@click.command(short_help="Data files of no completed write; --delete deletes them.")
@click.option("--delete", is_flag=True, help="Delete them, except files that a lost archive may have listed.")
@changes_table
def command(table: str, delete: bool, dry_run: bool, as_json: bool) -> Exit:
    """List orphans: data files whose instant is on no timeline (active or archived), or whose completed instant does
    not list them.

    nbcc's reads ignore orphans. Apache Hudi's reads return the rows of orphans as soon as newer instants are archived:
    Hudi then regards the instants of the orphans as archived and committed. The exit code is 1 if orphans remain.
    """
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.repair import orphan_files

    with opened(table, "find the orphans of") as storage:
        orphans = orphan_files(audit_of(storage))
        if delete and not dry_run and orphans:
            with locked(storage):
                orphans = orphan_files(audit_of(storage))
                for orphan in orphans:
                    if not orphan.kept:
                        storage.delete(orphan.path)
    deleted = [orphan.path for orphan in orphans if delete and not orphan.kept]
    left = [orphan for orphan in orphans if dry_run or orphan.path not in deleted]
    if as_json:
        rows = [{"file": o.path, "size": o.size, "because": o.because, "kept": o.kept} for o in orphans]
        answer({"orphans": rows, "deleted": [] if dry_run else deleted, "dry_run": dry_run})
        return Exit.VIOLATED if left else Exit.AGREES
    done("delete" if dry_run else "deleted", deleted, dry_run)
    for orphan in orphans if not delete else (o for o in orphans if o.kept):
        click.echo(f"{orphan.path}  {size(orphan.size)}: {orphan.because}")
        if orphan.kept:
            click.echo(f"  not deleted: {orphan.kept}")
    click.echo(f"{several(len(orphans), 'orphan')}, {size(sum(o.size for o in orphans))}")
    return Exit.VIOLATED if left else Exit.AGREES
