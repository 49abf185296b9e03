"""`nbcc table TABLE orphans`: data files that belong to no write."""

from __future__ import annotations

import click

from ..command import answer, debug_option, json_option
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, done, dry_run_option, locked, pass_table


@click.command(short_help="Data files that belong to no write; --delete removes them.")
@click.option("--delete", is_flag=True, help="Delete them, but those that a lost archive may have known.")
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, delete: bool, dry_run: bool, as_json: bool) -> Exit:
    """List data files whose instant is on no timeline, or is completed and does not list them.

    Readers of nbcc do not see them. Apache Hudi's readers show their rows, as soon as the timeline around them has been
    archived. Ends with 1 if orphans are left.
    """
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.repair import orphan_files

    with opened(table, "look for orphans in") as storage:
        found = orphan_files(audit_of(storage))
        if delete and not dry_run and found:
            with locked(storage):
                found = orphan_files(audit_of(storage))
                for orphan in found:
                    if not orphan.kept:
                        storage.delete(orphan.path)
    deleted = [orphan.path for orphan in found if delete and not orphan.kept]
    left = [orphan for orphan in found if dry_run or orphan.path not in deleted]
    if as_json:
        rows = [{"file": o.path, "size": o.size, "because": o.because, "kept": o.kept} for o in found]
        answer({"orphans": rows, "deleted": [] if dry_run else deleted, "dry_run": dry_run})
        return Exit.VIOLATED if left else Exit.AGREES
    done("delete" if dry_run else "deleted", deleted, dry_run)
    for orphan in found if not delete else (o for o in found if o.kept):
        click.echo(f"{orphan.path}  {size(orphan.size)}: {orphan.because}")
        if orphan.kept:
            click.echo(f"  not to be deleted: {orphan.kept}")
    click.echo(f"{several(len(found), 'orphan')}, {size(sum(o.size for o in found))}")
    return Exit.VIOLATED if left else Exit.AGREES
