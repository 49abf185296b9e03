"""`nbcc table TABLE compact`: merges the logs of each file group into a new base file."""

from __future__ import annotations

from typing import NamedTuple

import click

from ..outcome import Exit
from ..tables import merge_function_option
from .options import changes_table
from .service import OpenedService, master_option, say, service


@click.command(short_help="Merge the logs of each file group into a new base file.")
@click.option("--plan-only", is_flag=True, help="Publish a plan and do not run it.")
@master_option
@merge_function_option
@changes_table
def command(table: str, plan_only: bool, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Run all pending plans, oldest first, then plan and run a compaction of all file groups that still have logs.

    Writers do not wait for the compaction, and only the results of read-optimised reads change. Several processes may
    run the same plan: the first one completes it.

    \b
    Examples:
      nbcc table /data/trips compact --dry-run
      nbcc table /data/trips compact --spark 'local[4]'
      nbcc table /data/trips plans               the plans that have not run
    """
    with service(table, "compact", dry_run, master) as work:
        made = [i.requested for i in work.table.timeline() if i.action == "compaction"]
        # The plan of a replace is part of a write, which completes it.
        left = [plan for plan in made if not work.table.context.commits.plan(plan).replaces]
        plans = {requested: _operations(work, requested) for requested in left}
        if not (dry_run or plan_only):
            _run(work, left)
        planned = work.table.schedule_compaction()
        if planned is not None:
            plans[planned.requested] = _operations(work, planned.requested)
            if dry_run or plan_only:
                work.ran.append(planned)
            else:
                _run(work, [planned.requested])
    verb = "would merge" if dry_run else "planned" if plan_only else "merged"
    lines = [f"compaction {plan}: {verb} {_words(groups)}" for plan, groups in plans.items()]
    nothing = "nothing to compact: no file group has logs since its newest plan"
    return say(work, lines or [nothing], as_json, plans=_rows(plans))


def _run(work: OpenedService, plans: list[str]) -> None:
    done = [work.table.run_compaction(instant=requested) for requested in plans]
    work.ran += [instant for instant in done if instant is not None]


def _rows(plans: dict[str, list[_Group]]) -> list[dict[str, object]]:
    return [{"requested": plan, "file_groups": [group._asdict() for group in plans[plan]]} for plan in plans]


class _Group(NamedTuple):
    partition: str
    file_group: str
    base_file: str | None
    log_files: tuple[str, ...]
    bytes: int


def _operations(work: OpenedService, requested: str) -> list[_Group]:
    from nbcc.engine.timeline import load_plan

    return [
        _Group(o.partition, o.file_id, o.base_file, o.logs, o.base_bytes + o.log_bytes)
        for o in load_plan(work.storage, requested).operations
    ]


def _words(groups: list[_Group]) -> str:
    from nbcc.engine.audit.amounts import several, size

    logs = several(sum(len(group.log_files) for group in groups), "log")
    bases = several(sum(group.base_file is not None for group in groups), "base file")
    read = size(sum(group.bytes for group in groups))
    return f"{logs} and {bases} of {several(len(groups), 'file group')}, {read}"
