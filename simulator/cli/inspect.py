"""`nbcc inspect`: timeline and file slices of any Hudi table, from names and metadata."""

from __future__ import annotations

from pathlib import Path

import click

from .command import FileToWrite, answer, debug_option, json_option
from .outcome import Exit
from .tables import opened, shown, storage_option


@click.command(short_help="Timeline and file slices of any Hudi table; no Spark, no JVM.")
@click.argument("table")
@click.option("--as-of", "as_of", metavar="T", help="The slices at that completion time (17 digits).")
@storage_option
@json_option
@click.option("--html", "page", type=FileToWrite(), metavar="FILE", help="Also a page.")
@click.option("--redact", is_flag=True, help="Hide paths, table name, partition values, random parts of file ids.")
@debug_option
def command(table: str, as_of: str | None, as_json: bool, page: Path | None, redact: bool) -> Exit:
    """Say what is in TABLE: its instants, file slices, sizes, pending work, and by whose rules it is read.

    TABLE is a path or a URL (s3://, gs://, abfs://; credentials from the environment or --storage-option). Only names
    and metadata are read, never a row; the last line, on standard error, says how many objects that took. Tables of
    versions 8 and 9 are read by their completion times; of an older one you see what its names tell.

    \b
    Examples:
      nbcc inspect /data/trips
      nbcc inspect s3://lake/trips --as-of 20261121074514504 --json
      nbcc inspect /data/trips --redact --html trips.html
    """
    from nbcc.engine.audit import inspect, redacted
    from nbcc.engine.audit.inventory_text import render

    with opened(table, "inspect", redact) as storage:
        found = inspect(storage, as_of)
        if redact:
            found = redacted(found)
        if page is not None:
            from nbcc.simulator.view.inventory import page_of

            page.write_text(page_of(found), encoding="utf-8")
        if as_json:
            answer(found.to_mapping())
        else:
            click.echo(render(found))
        shown(page)
        click.echo(f"{storage.says()}; no rows", err=True)
    return Exit.AGREES
