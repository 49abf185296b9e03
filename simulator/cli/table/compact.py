"""`nbcc table TABLE compact`: merge logs into new base files."""

from __future__ import annotations

from typing import NamedTuple

import click

from ..command import debug_option, json_option
from ..outcome import Exit
from .options import dry_run_option, pass_table
from .service import Service, master_option, say, service


@click.command(short_help="Merge the logs of each file group into a new base file.")
@click.option("--plan-only", is_flag=True, help="Publish a plan and leave the work to whoever runs it.")
@master_option
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, plan_only: bool, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Run the plans that are pending, oldest first, then plan all file groups that have logs left, and run that plan.

    No writer waits for it, and no answer of a read changes, but that of read-optimised ones. Others may run a plan at
    the same time: whoever is first completes it.

    \b
    Examples:
      nbcc table /data/trips compact --dry-run
      nbcc table /data/trips compact --spark 'local[4]'
      nbcc table /data/trips plans               what is planned and has not run
    """
    with service(table, "compact", dry_run, master) as work:
        made = [i.requested for i in work.table.timeline() if i.action == "compaction"]
        left = [plan for plan in made if not work.table.context.commits.plan(plan).replaces]  # those are a write's
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


def _run(work: Service, plans: list[str]) -> None:
    done = [work.table.run_compaction(requested) for requested in plans]
    work.ran += [instant for instant in done if instant is not None]


def _rows(plans: dict[str, list[_Group]]) -> list[dict[str, object]]:
    return [{"requested": plan, "file_groups": [group._asdict() for group in plans[plan]]} for plan in plans]


class _Group(NamedTuple):
    """What a plan merges in one file group."""

    partition: str
    file_group: str
    base_file: str | None
    log_files: tuple[str, ...]
    bytes: int


def _operations(work: Service, requested: str) -> list[_Group]:
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
