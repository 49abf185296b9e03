"""Commands of `nbcc table TABLE …` that only read it: stats, timeline and copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..command import WholeNumber, answer, echo
from ..outcome import Exit
from ..tables import opened, storage_options
from .shared import audit_of, reads_table

if TYPE_CHECKING:
    from nbcc.engine.audit.stats import Stats


@click.command(short_help="Counts, sizes, logs per file group, write amplification.")
@reads_table
def stats(table: str, as_json: bool) -> Exit:
    """Report the instants and files of TABLE, the files that a snapshot reads, and the write amplification.

    Write amplification is the number of bytes that all commits (writes and compactions) wrote, divided by the number of
    bytes that writes wrote. Files that a clean has deleted, and archived commits, are counted too. Without compaction,
    write amplification is 1.
    """
    from nbcc.engine.audit.stats import stats
    from nbcc.engine.terminal import folded

    with opened(table, "count") as storage:
        figures = stats(audit_of(storage))
    if as_json:
        answer(asdict(figures))
    else:
        echo(*folded(_lines(figures)))
    return Exit.AGREES


def _lines(figures: Stats) -> Iterator[str]:
    from nbcc.engine.audit.amounts import several, size

    for what, count in figures.instants.items():
        yield f"{what}: {count:,}"
    yield f"{several(figures.partitions, 'partition')}, {several(figures.groups, 'file group')}"
    files = f"{several(figures.base_files, 'base file')} and {several(figures.log_files, 'log file')}"
    yield f"{files}, {size(figures.bytes)}"
    yield f"a snapshot reads {several(figures.read_files, 'file')}, {size(figures.read_bytes)}"
    yield f"logs per file group: {figures.mean_logs} on average, {figures.most_logs} at most"
    yield f"{several(figures.orphans, 'file')} of no completed write"
    if figures.write_amplification is not None:
        total = f"all commits wrote {size(figures.written_bytes)}, deleted files included"
        yield f"write amplification: {figures.write_amplification} ({total}; divided by what writers wrote)"
    if figures.unrecorded:
        yield f"{several(figures.unrecorded, 'archived write')} without a record of files, not counted there"


@click.command(short_help="The active timeline, newest instants last.")
@click.option("--last", type=WholeNumber(min=1), metavar="N", help="Only the newest N by requested time.")
@click.option("--pending", is_flag=True, help="Only instants that have not completed.")
@reads_table
def timeline(table: str, last: int | None, pending: bool, as_json: bool) -> Exit:
    """List the instants of TABLE by requested time, each with its completion time, action and state."""
    from nbcc.engine.definition.load import load_properties
    from nbcc.engine.timeline import load
    from nbcc.engine.timeline.instant import COLUMNS

    with opened(table, "list the timeline of") as storage:
        load_properties(storage)
        timeline = load(storage)
    shown = list(timeline.pending if pending else timeline.instants)[-last if last else 0 :]
    if as_json:
        answer({"instants": [dict(zip(COLUMNS, instant.row, strict=True)) for instant in shown]})
        return Exit.AGREES
    for instant in shown:
        echo(f"{instant.requested}  {instant.completed or '-':17}  {instant.action:13} {instant.state}")
    echo(*str(timeline).split("\n"))
    return Exit.AGREES


@click.command(short_help="Copy any Hudi table into a new table of nbcc.")
@click.argument("destination", metavar="DEST")
@click.option("--buckets", type=WholeNumber(min=1), required=True, metavar="N", help="File groups in each partition.")
@click.option("--key", metavar="COLUMNS", help="The record key.  [default: that of TABLE]")
@click.option("--ordering", metavar="COLUMN", help="The ordering column.  [default: that of TABLE]")
@click.option("--partition-by", metavar="COLUMNS", help="The partition columns.  [default: those of TABLE]")
@reads_table
def copy(
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
