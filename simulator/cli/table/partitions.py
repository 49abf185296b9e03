"""`nbcc table TABLE partitions`: lists or repairs partitions that Apache Hudi on Spark does not see."""

from __future__ import annotations

import click

from ..command import answer, echo
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, changes_table, done


@click.command(short_help="Partitions without .hoodie_partition_metadata; --write writes it.")
@click.option("--write", is_flag=True, help="Write the missing files.")
@changes_table
def command(table: str, write: bool, dry_run: bool, as_json: bool) -> Exit:
    """List the partitions without .hoodie_partition_metadata. Hudi on Spark does not return the rows of such a
    partition.

    The exit code is 1 if files are still missing.
    """
    from nbcc.engine.audit.amounts import several
    from nbcc.engine.file_names import PARTITION_METADATA, in_partition
    from nbcc.engine.repair import missing_metadata, write_metadata

    with opened(table, "find the partitions of") as storage:
        missing = missing_metadata(audit_of(storage))
        written = write_metadata(storage, missing.items()) if write and not dry_run else []
    paths = [in_partition(partition, PARTITION_METADATA) for partition in missing]
    left = bool(missing) and not (write and not dry_run)
    if as_json:
        answer({"missing": paths, "written": written, "dry_run": dry_run})
        return Exit.VIOLATED if left else Exit.AGREES
    if write:
        done("write" if dry_run else "wrote", paths if dry_run else written, dry_run)
    else:
        for path in paths:
            echo(path)
    echo(f"{several(len(paths), 'partition')} without a metadata file")
    return Exit.VIOLATED if left else Exit.AGREES
