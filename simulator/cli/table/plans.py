"""`nbcc table TABLE plans`: pending compactions, and giving one up."""

from __future__ import annotations

from dataclasses import asdict

import click

from ..command import answer, debug_option, json_option
from ..outcome import Exit
from ..tables import opened
from .options import audit_of, done, dry_run_option, locked, pass_table


@click.command(short_help="Pending compactions; --drop gives one up.")
@click.option("--drop", "barrier", metavar="T", help="Give up the plan requested at that time.")
@dry_run_option
@json_option
@debug_option
@pass_table
def command(table: str, barrier: str | None, dry_run: bool, as_json: bool) -> Exit:
    """List the compactions that are planned and have not completed, and what each of them lacks.

    A plan that is given up loses no row: its logs fall back into the slice before. Make sure that nobody runs it. Ends
    with 1 if a plan lacks inputs.
    """
    from nbcc.engine.errors import BadInput
    from nbcc.engine.repair import drop_plan, pending_plans

    dropped: list[str] = []
    with opened(table, "look for plans in") as storage:
        found = pending_plans(audit_of(storage))
        if barrier is not None:
            plan = next((plan for plan in found if plan.barrier == barrier), None)
            if plan is None:
                there = ", ".join(plan.barrier for plan in found) or "none"
                exists = f"the pending compactions of the table are: {there}"
                raise BadInput(f"give up the compaction {barrier}", exists, "name one that is pending")
            if dry_run:
                paths = [f".hoodie/timeline/{barrier}.compaction.{state}" for state in ("inflight", "requested")]
                listed = {entry.path for entry in storage.list(".hoodie/timeline")}
                dropped = [*plan.written, *(path for path in paths if path in listed)]
            else:
                with locked(storage):
                    dropped = drop_plan(storage, plan)
                found = tuple(each for each in found if each is not plan)
    if as_json:
        answer({"plans": [asdict(plan) for plan in found], "deleted": dropped, "dry_run": dry_run})
    else:
        done("delete" if dry_run else "deleted", dropped, dry_run)
        for plan in found:
            click.echo(f"{plan.barrier} {plan.state}: {plan.logs} logs in {plan.groups} file groups")
            for path in plan.gone:
                click.echo(f"  gone: {path}")
        click.echo(f"{len(found)} pending compactions")
    return Exit.VIOLATED if any(plan.gone for plan in found) else Exit.AGREES
