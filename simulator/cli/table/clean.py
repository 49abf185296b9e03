"""`nbcc table TABLE clean`: deletes files that no retained read needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import click

from ..command import WholeNumber
from ..outcome import Exit
from .options import changes_table
from .service import OpenedService, say, service

if TYPE_CHECKING:
    from nbcc.engine.config.maintenance import PolicyName

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
def command(table: str, retain: int, policy: str, dry_run: bool, as_json: bool) -> Exit:
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
            lines.append(_run(work, None))
        planned = perform(work.table, schedule_clean, policy=POLICIES[policy], retained=retain)
        if planned is not None:
            lines.append(_run(work, planned.requested))
    nothing = f"nothing to clean: retaining {retain} {policy}, every file is needed"
    return say(work, lines or [nothing], as_json)


def _run(work: OpenedService, requested: str | None) -> str:
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
