"""`nbcc table TABLE plans`: lists pending compactions, or drops one of them."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import click

from ..command import answer, echo
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, changes_table, done, foreseen, locked, quarantining


@click.command(short_help="Pending compactions; --drop removes one.")
@click.option("--drop", "barrier", metavar="T", help="Move the plan requested at that time, and its files, away.")
@changes_table
def command(table: str, barrier: str | None, dry_run: bool, as_json: bool) -> Exit:
    """List the pending compactions, and the input files that each of them lacks.

    Dropping a plan loses no rows: without the plan, newer logs belong to the previous file slice again. Before you drop
    a plan, make sure that no process is running it, and that its completed file was not removed: `quarantine
    --restore` puts the plan back. The exit code is 1 if a plan lacks input files.
    """
    from nbcc.engine.audit.amounts import several
    from nbcc.engine.errors import BadInput
    from nbcc.engine.repair import drop_plan, pending_plans

    dropped: list[str] = []
    with opened(table, "find the plans of") as storage:
        plans = pending_plans(audit_of(storage))
        if barrier is not None:
            plan = next((plan for plan in plans if plan.barrier == barrier), None)
            if plan is None:
                asked, pending = f"drop the compaction {barrier}", ", ".join(plan.barrier for plan in plans)
                if not pending:
                    raise BadInput(asked, "the table has no pending compaction", "leave --drop out")
                raise BadInput(asked, f"it is not pending; pending are {pending}", "use one of these")
            foreseen(storage, f"drop the compaction {barrier}", partial(drop_plan, plan=plan))
            if dry_run:
                paths = [f".hoodie/timeline/{barrier}.compaction.{state}" for state in ("inflight", "requested")]
                listed = {entry.path for entry in storage.list(".hoodie/timeline")}
                dropped = [*plan.written, *(path for path in paths if path in listed)]
            else:
                with locked(storage):
                    dropped = drop_plan(quarantining(storage), plan)
                plans = tuple(each for each in plans if each is not plan)
    if as_json:
        answer({"plans": [asdict(plan) for plan in plans], "deleted": dropped, "dry_run": dry_run})
    else:
        done("quarantine" if dry_run else "quarantined", dropped, dry_run)
        for plan in plans:
            inputs = f"{several(plan.logs, 'log')} in {several(plan.groups, 'file group')}"
            echo(f"{plan.barrier} {plan.state}: {inputs}")
            for path in plan.gone:
                echo(f"  missing: {path}")
        echo(several(len(plans), "pending compaction"))
    return Exit.VIOLATED if any(plan.gone for plan in plans) else Exit.AGREES
