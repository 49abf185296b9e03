"""`nbcc table TABLE stats`: prints the numbers and sizes of a table's files and instants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..command import answer, echo
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, reads_table

if TYPE_CHECKING:
    from nbcc.engine.audit.stats import Stats


@click.command(short_help="Counts, sizes, logs per file group, write amplification.")
@reads_table
def command(table: str, as_json: bool) -> Exit:
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
