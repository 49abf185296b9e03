"""`nbcc table TABLE cluster`: merges logs into new, sorted base files."""

from __future__ import annotations

import click

from ..outcome import Exit
from ..tables import merge_function_option
from .options import changes_table
from .service import master_option, say, service


@click.command(short_help="Merge the logs of each file group into a new base file, sorted.")
@click.option("--sort-by", required=True, metavar="COLUMNS", help="The columns to sort by, separated by commas.")
@master_option
@merge_function_option
@changes_table
def command(table: str, sort_by: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Plan and run a compaction that sorts the rows of each new base file. File groups without logs are not rewritten.

    Writers do not wait for the clustering, and snapshots return the same rows as before. File groups are not split,
    joined or renamed, because their buckets determine their ids.

    \b
    Examples:
      nbcc table /data/trips cluster --dry-run --sort-by city,ts
      nbcc table /data/trips cluster --sort-by city --spark 'local[4]'
    """
    columns = [name.strip() for name in sort_by.split(",") if name.strip()]
    with service(table, "cluster", dry_run, master) as work:
        done = work.table.cluster(sort_by=columns)
        if done is not None:
            work.ran.append(done)
    verb = "would sort" if dry_run else "sorted"
    lines = [f"compaction {instant.requested}: {verb} by {', '.join(columns)}" for instant in work.ran]
    return say(work, lines or ["nothing to cluster: no file group has logs since its newest plan"], as_json)
