"""`nbcc table TABLE rewrite`: writes the rows of a log again if no reader sees the log."""

from __future__ import annotations

import click

from ..outcome import Exit
from .options import changes_table
from .service import say, service


@click.command(short_help="Write again the rows of a log that no reader sees.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@changes_table
def command(table: str, files: tuple[str, ...], dry_run: bool, as_json: bool) -> Exit:
    """Write the rows and deletes of the given log files (paths below TABLE) again, in one new write for each file.

    Use the command if no read returns the rows of a committed log, because a compaction omitted the log or a base file
    supersedes it. The table needs an ordering column, so that rewritten old rows do not replace newer rows. Reads as of
    an earlier time do not change. A file that has already been rewritten is skipped.

    \b
    Examples:
      nbcc table /data/trips rewrite --dry-run part=eu/.00000000-a_20260101120000000.log.1_0-1-1
    """
    from nbcc.engine.repair import rewrite_log

    with service(table, "rewrite rows of", dry_run) as work:
        work.ran = [rewrite_log(work.table.context, work.table.config, path) for path in files]
        written = [(path, work.table.context.commits.commit(i).stats) for path, i in zip(files, work.ran, strict=True)]
    lines = [
        f"{path}: {'would write' if dry_run else 'wrote'} {sum(s.writes for s in stats)} rows and"
        f" {sum(s.deletes for s in stats)} deletes again"
        for path, stats in written
    ]
    return say(work, lines, as_json, files=list(files))
