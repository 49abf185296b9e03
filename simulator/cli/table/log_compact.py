"""`nbcc table TABLE log-compact`: put one log in place of several."""

from __future__ import annotations

import click

from ..command import debug_option, json_option
from ..outcome import Exit
from .options import dry_run_option, pass_table
from .service import Service, master_option, say, service


@click.command(short_help="Put one log in place of the several of a file group.")
@master_option
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Run the log compactions that are pending, oldest first, then one over all file groups with several logs.

    Base files stay as they are, so that it costs what the logs cost and no more. No writer waits for it, and no answer
    of a read changes. The logs that it replaces stay until cleaning takes their slice.

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


def _run(work: Service, plans: list[str]) -> None:
    done = [work.table.run_log_compaction(requested) for requested in plans]
    work.ran += [instant for instant in done if instant is not None]


def _logs(work: Service, requested: str) -> list[int]:
    """How many logs the plan takes, by file group."""
    from nbcc.engine.timeline import LOG_COMPACTION, load_plan

    return [len(operation.logs) for operation in load_plan(work.storage, requested, LOG_COMPACTION).operations]
