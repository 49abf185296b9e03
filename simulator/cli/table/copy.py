"""`nbcc table TABLE copy`: copies a table of Hudi into a new table that nbcc can write."""

from __future__ import annotations

import click

from ..command import WholeNumber, answer, echo
from ..outcome import Exit
from ..tables import opened, storage_options
from .options import reads_table


@click.command(short_help="Copy any Hudi table into a new table of nbcc.")
@click.argument("destination", metavar="DEST")
@click.option("--buckets", type=WholeNumber(min=1), required=True, metavar="N", help="File groups in each partition.")
@click.option("--key", metavar="COLUMNS", help="The record key.  [default: that of TABLE]")
@click.option("--ordering", metavar="COLUMN", help="The ordering column.  [default: that of TABLE]")
@click.option("--partition-by", metavar="COLUMNS", help="The partition columns.  [default: those of TABLE]")
@reads_table
def command(
    table: str, destination: str, buckets: int, key: str | None, ordering: str | None, partition_by: str | None,
    as_json: bool,
) -> Exit:  # fmt: skip
    """Copy the newest state of TABLE to a new table at DEST, with any index and any number of partition columns. nbcc
    reads TABLE if it can, otherwise hudi-rs does, for example a table of version 6.

    At the end the rows of both tables are counted and their digests compared. If the command is interrupted, the same
    command continues with the same state. The history of TABLE is not copied.

    \b
    Examples:
      nbcc table /data/trips copy /data/trips_nbcc --buckets 8
      nbcc table /data/old copy /data/new --buckets 4 --ordering updated_at
    """
    from nbcc.engine.copying import copy_table

    with opened(table, "copy"):
        copied = copy_table(
            table, destination, buckets=buckets, record_key=key, ordering_fields=ordering, partition_by=partition_by,
            source_options=storage_options(), storage_options=storage_options(),
        )  # fmt: skip
    if as_json:
        answer({"source": table, **copied._asdict()})
        return Exit.AGREES
    echo(f"copied {copied.rows} rows, as of {copied.time or 'the beginning'}, read by {copied.reader}")
    echo(f"counted and compared: the digest of both tables is {copied.digest}", f"at {copied.path}")
    return Exit.AGREES
