"""The services of `nbcc table TABLE …`: archive, clean, cluster, compact and log-compact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from ..command import WholeNumber
from ..outcome import Exit
from ..tables import merge_function_option
from .shared import OpenedService, changes_table, master_option, say, service

if TYPE_CHECKING:
    from nbcc.engine import Instant
    from nbcc.engine.config.maintenance import PolicyName


@click.command(short_help="Move the oldest completed instants into the archived timeline.")
@click.option("--retain", type=WholeNumber(min=1), default=20, show_default=True, metavar="N",
              help="How many of the newest writes stay on the active timeline.")  # fmt: skip
@changes_table
def archive(table: str, retain: int, dry_run: bool, as_json: bool) -> Exit:
    """Keep the active timeline short, because every write and every read lists it. Archiving does not change the rows
    of any read.

    The command archives neither the newest clean nor writes whose logs are not compacted yet. It archives no instant
    that was requested or completed after the oldest pending instant was requested. Therefore, compact the table and
    roll back failed writes first.

    \b
    Examples:
      nbcc table /data/trips archive --dry-run
      nbcc table /data/trips archive --retain 50
    """
    from nbcc.engine.audit.amounts import several

    with service(table, "archive", dry_run) as work:
        before = len(work.table.timeline())
        work.ran = list(work.table.archive(retained=retain))
    if not work.ran:
        return say(work, [f"nothing to archive: all {several(before, 'instant')} of the active timeline stay"], as_json)
    first, last = work.ran[0].requested, work.ran[-1].requested
    would = "would be archived" if dry_run else "archived"
    what, stay = several(len(work.ran), "instant"), before - len(work.ran)
    return say(work, [f"{what} {would}, requested from {first} to {last}; {stay} stay"], as_json)


# Repeats the engine's `PolicyName`, because --help must not import the engine. A test compares both.
POLICIES: Final[Mapping[str, PolicyName]] = {
    "commits": "KEEP_LATEST_COMMITS",
    "hours": "KEEP_LATEST_BY_HOURS",
    "versions": "KEEP_LATEST_FILE_VERSIONS",
}


@click.command(short_help="Delete files that no read of the retained states needs.")
@click.option("--retain", type=WholeNumber(min=1), default=10, show_default=True, metavar="N",
              help="How many commits, hours or file versions stay readable.")  # fmt: skip
@click.option("--by", "policy", type=click.Choice([*POLICIES]), default="commits", show_default=True,
              help="The unit of --retain: writes, hours, or base files of each file group.")  # fmt: skip
@changes_table
def clean(table: str, retain: int, policy: str, dry_run: bool, as_json: bool) -> Exit:
    """Publish a clean plan with a horizon (the oldest readable time), delete the files listed in the plan, and complete
    the clean. If a clean is pending, it is finished before a new one is planned.

    After the clean, as-of reads before the horizon and incremental reads that begin before the horizon are refused. The
    input files of a pending compaction are kept. All other reads return the same rows as before.

    \b
    Examples:
      nbcc table /data/trips clean --dry-run
      nbcc table /data/trips clean --retain 24 --by hours
    """
    from nbcc.engine.actions import schedule_clean
    from nbcc.engine.methods import perform

    with service(table, "clean", dry_run) as work:
        lines = []
        if any(i.action == "clean" and not i.completed for i in work.table.timeline()):
            lines.append(_run_clean(work, None))
        planned = perform(work.table, schedule_clean, policy=POLICIES[policy], retained=retain)
        if planned is not None:
            lines.append(_run_clean(work, planned.requested))
    nothing = f"nothing to clean: retaining {retain} {policy}, every file is needed"
    return say(work, lines or [nothing], as_json)


def _run_clean(work: OpenedService, requested: str | None) -> str:
    from nbcc.engine.actions import run_clean
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.methods import perform

    if requested is None:
        pending = (i for i in work.table.timeline() if i.action == "clean" and not i.completed)
        requested = next(pending).requested
    plan = work.table.context.commits.clean(requested)
    work.expected = len(work.deleted) + len(plan.paths)
    freed = size(work.size_of(plan.paths))
    done = perform(work.table, run_clean, instant=requested)
    assert done is not None, "the plan is on the timeline"
    work.ran.append(done)
    since = f"; reads as of a time before {plan.horizon} are refused from then on" if plan.horizon else ""
    return f"clean {requested}: {several(len(plan.paths), 'file')}, {freed}{since}"


@click.command(short_help="Merge the logs of each file group into a new base file, sorted.")
@click.option("--sort-by", required=True, metavar="COLUMNS", help="The columns to sort by, separated by commas.")
@master_option
@merge_function_option
@changes_table
def cluster(table: str, sort_by: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Plan and run a compaction that sorts the rows of each new base file. File groups without logs are not rewritten.

    Writers do not wait for the clustering, and snapshots return the same rows as before. File groups are not split,
    joined or renamed, because their buckets determine their ids.

    \b
    Examples:
      nbcc table /data/trips cluster --dry-run --sort-by city,ts
      nbcc table /data/trips cluster --sort-by city --spark 'local[4]'
    """
    columns = [name.strip() for name in sort_by.split(",") if name.strip()]
    with service(table, "cluster", dry_run, master) as work:
        done = work.table.cluster(sort_by=columns)
        if done is not None:
            work.ran.append(done)
    verb = "would sort" if dry_run else "sorted"
    lines = [f"compaction {instant.requested}: {verb} by {', '.join(columns)}" for instant in work.ran]
    return say(work, lines or ["nothing to cluster: no file group has logs since its newest plan"], as_json)


@click.command(short_help="Merge the logs of each file group into a new base file.")
@click.option("--plan-only", is_flag=True, help="Publish a plan and do not run it.")
@master_option
@merge_function_option
@changes_table
def compact(table: str, plan_only: bool, master: str | None, dry_run: bool, as_json: bool) -> Exit:
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
            _run(work, work.table.run_compaction, left)
        planned = work.table.schedule_compaction()
        if planned is not None:
            plans[planned.requested] = _operations(work, planned.requested)
            if dry_run or plan_only:
                work.ran.append(planned)
            else:
                _run(work, work.table.run_compaction, [planned.requested])
    verb = "would merge" if dry_run else "planned" if plan_only else "merged"
    lines = [f"compaction {plan}: {verb} {_words(groups)}" for plan, groups in plans.items()]
    nothing = "nothing to compact: no file group has logs since its newest plan"
    return say(work, lines or [nothing], as_json, plans=_rows(plans))


def _run(work: OpenedService, run: Callable[..., Instant | None], plans: list[str]) -> None:
    done = [run(instant=requested) for requested in plans]
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


@click.command(short_help="Merge the logs of each file group into one log.")
@master_option
@merge_function_option
@changes_table
def log_compact(table: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
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
            _run(work, work.table.run_log_compaction, plans)
        planned = work.table.schedule_log_compaction()
        if planned is not None:
            plans.append(planned.requested)
            if dry_run:
                work.ran.append(planned)
            else:
                _run(work, work.table.run_log_compaction, [planned.requested])
        logs = {requested: _logs(work, requested) for requested in plans}
    verb = "would put" if dry_run else "put"
    lines = [f"log compaction {plan}: {verb} {len(each)} in place of {sum(each)} logs" for plan, each in logs.items()]
    nothing = "nothing to compact: no file group has several logs in its newest slice"
    return say(work, lines or [nothing], as_json, plans=[{"requested": p, "logs": sum(g)} for p, g in logs.items()])


def _logs(work: OpenedService, requested: str) -> list[int]:
    from nbcc.engine.timeline import LOG_COMPACTION, load_plan

    return [len(operation.logs) for operation in load_plan(work.storage, requested, LOG_COMPACTION).operations]
