"""`nbcc table TABLE rewrite`: write the rows of a log again that no reader sees."""

from __future__ import annotations

import click

from ..command import debug_option, json_option
from ..outcome import Exit
from .options import dry_run_option, pass_table
from .service import say, service


@click.command(short_help="Write the rows of a log again that no reader sees.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, files: tuple[str, ...], dry_run: bool, as_json: bool) -> Exit:
    """Write the rows and deletes of the log files FILE (paths below TABLE) as new writes, each file once.

    For a committed log that a compaction has left out, or that a base file was put over: its rows are in no answer.
    Only where records are ranked by an ordering column, so that an old row that comes late loses against a newer one.
    Reads as of an earlier time stay as they are. A file that was written again before is not written twice.

    \b
    Examples:
      nbcc table /data/trips rewrite --dry-run part=eu/.00000000-a_20260101120000000.log.1_0-1-1
    """
    from nbcc.engine.repair import rewrite_log

    with service(table, "write rows again in", dry_run) as work:
        work.ran = [rewrite_log(work.table.context, work.table.config, path) for path in files]
        told = [(path, work.table.context.commits.commit(i).stats) for path, i in zip(files, work.ran, strict=True)]
    lines = [
        f"{path}: {'would write' if dry_run else 'wrote'} {sum(s.writes for s in stats)} rows and"
        f" {sum(s.deletes for s in stats)} deletes again"
        for path, stats in told
    ]
    return say(work, lines, as_json, files=list(files))
