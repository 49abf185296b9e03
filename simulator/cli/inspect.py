"""`nbcc inspect`: shows the timeline and file slices of any Hudi table, from file names and metadata only."""

from __future__ import annotations

from pathlib import Path

import click

from .command import FileToWrite, WholeNumber, answer, debug_option, echo, json_option
from .outcome import Exit
from .progress import on_stderr
from .tables import opened, shown, storage_option


@click.command(short_help="Timeline and file slices of any Hudi table; no Spark, no JVM.")
@click.argument("table")
@click.option("--as-of", "as_of", metavar="T", help="The state at that completion time (17 digits).")
@click.option("--limit", type=WholeNumber(min=1), default=10, show_default=True, metavar="N",
              help="How many instants, partitions and reasons the summary shows.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="List every instant, file slice and file.")
@storage_option
@json_option
@click.option("--html", "page", type=FileToWrite(), metavar="FILE", help="Also write an HTML page.")
@click.option("--redact", is_flag=True, help="Hide paths, table name, partition values, random parts of file ids.")
@debug_option
def command(
    table: str, as_of: str | None, limit: int, everything: bool, as_json: bool, page: Path | None, redact: bool
) -> Exit:
    """Report the instants, file slices, sizes and pending compactions of TABLE, and the rules for reading TABLE.

    TABLE is a path or a URL (s3://, gs://, abfs://; credentials from the environment or --storage-option). The command
    reads file names and metadata, but no rows. The last line, on standard error, counts the objects that the command
    has read. Tables of versions 8 and 9 are read by completion times; of older tables, only the information in file
    names is shown. The options --json and --html report everything, like --all.

    \b
    Examples:
      nbcc inspect /data/trips
      nbcc inspect s3://lake/trips --as-of 20261121074514504 --json
      nbcc inspect /data/trips --redact --html trips.html
    """
    from nbcc.engine.audit import inspect, redacted
    from nbcc.engine.audit.inventory_text import render

    with opened(table, "inspect", redact) as storage:
        with on_stderr() as progress:
            inventory = inspect(storage, as_of, progress)
        if redact:
            inventory = redacted(inventory)
        if page is not None:
            from nbcc.simulator.view.inventory import page_of

            page.write_text(page_of(inventory), encoding="utf-8")
        if as_json:
            answer(inventory.to_mapping())
        else:
            echo(*render(inventory, None if everything else limit).split("\n"))
        shown(page)
        echo(f"{storage.summary()}; no rows", err=True)
    return Exit.AGREES
