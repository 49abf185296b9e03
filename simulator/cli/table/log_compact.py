"""`nbcc table TABLE log-compact`: merges several logs into one log."""

from __future__ import annotations

import click

from ..outcome import Exit
from ..tables import merge_function_option
from .options import changes_table
from .service import OpenedService, master_option, say, service


@click.command(short_help="Merge the logs of each file group into one log.")
@master_option
@merge_function_option
@changes_table
def command(table: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Run all pending log compactions, oldest first, then plan and run a log compaction of all file groups with several
    logs.

    A log compaction reads and writes only logs, no base files. Writers do not wait for the log compaction, and all
    reads return the same rows as before. The replaced logs stay until a clean deletes their file slice.

    \b
    Examples:
      nbcc table /data/trips log-compact --dry-run
      nbcc table /data/trips log-compact --spark 'local[4]'
    """
    with service(table, "log-compact", dry_run, master) as work:
        plans = [i.requested for i in work.table.timeline() if i.action == "logcompaction"]
        if not dry_run:
            _run(work, plans)
        planned = work.table.schedule_log_compaction()
        if planned is not None:
            plans.append(planned.requested)
            if dry_run:
                work.ran.append(planned)
            else:
                _run(work, [planned.requested])
        logs = {requested: _logs(work, requested) for requested in plans}
    verb = "would put" if dry_run else "put"
    lines = [f"log compaction {plan}: {verb} {len(each)} in place of {sum(each)} logs" for plan, each in logs.items()]
    nothing = "nothing to compact: no file group has several logs in its newest slice"
    return say(work, lines or [nothing], as_json, plans=[{"requested": p, "logs": sum(g)} for p, g in logs.items()])


def _run(work: OpenedService, plans: list[str]) -> None:
    done = [work.table.run_log_compaction(instant=requested) for requested in plans]
    work.ran += [instant for instant in done if instant is not None]


def _logs(work: OpenedService, requested: str) -> list[int]:
    from nbcc.engine.timeline import LOG_COMPACTION, load_plan

    return [len(operation.logs) for operation in load_plan(work.storage, requested, LOG_COMPACTION).operations]
