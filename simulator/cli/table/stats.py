"""`nbcc table TABLE stats`: figures of a table."""

from __future__ import annotations

from dataclasses import asdict

import click

from ..command import answer, debug_option, json_option
from ..outcome import Exit
from ..tables import opened
from .options import gathered, pass_table


@click.command(short_help="Counts, sizes, logs per file group, write amplification.")
@json_option
@debug_option
@pass_table
def command(table: str, as_json: bool) -> Exit:
    """Figures of TABLE: instants, files, what a snapshot has to read, and how much compaction has written anew."""
    from nbcc.engine.audit.amounts import size
    from nbcc.engine.audit.stats import stats

    with opened(table, "count") as storage:
        found = stats(gathered(storage))
    if as_json:
        answer(asdict(found))
        return Exit.AGREES
    for what, count in found.instants.items():
        click.echo(f"{what}: {count:,}")
    click.echo(f"partitions: {found.partitions:,}, file groups: {found.groups:,}")
    click.echo(f"base files: {found.base_files:,}, log files: {found.log_files:,}, together {size(found.bytes)}")
    click.echo(f"a snapshot reads {found.read_files:,} files, {size(found.read_bytes)}")
    click.echo(f"logs per file group: {found.mean_logs} on average, {found.most_logs} at most")
    click.echo(f"files that belong to no write: {found.orphans:,}")
    if found.write_amplification is not None:
        click.echo(f"bytes written in all, by those that writers wrote: {found.write_amplification}")
    return Exit.AGREES
