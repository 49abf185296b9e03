"""Repairs of `nbcc table TABLE …`: what `nbcc validate` advises, and the quarantine."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial

import click

from ..command import answer, echo, users_words
from ..outcome import Exit
from ..tables import opened
from .shared import audit_of, changes_table, done, foreseen, locked, now, quarantining, refuse_foreign, say, service


@click.command(short_help="Data files of no completed write; --quarantine moves them away.")
@click.option("--quarantine", is_flag=True, help="Move them into the quarantine, except files that may be needed.")
@changes_table
def orphans(table: str, quarantine: bool, dry_run: bool, as_json: bool) -> Exit:
    """List orphans: data files whose instant is on no timeline (active or archived), or whose completed instant does
    not list them.

    An instant is on no timeline if its write failed, or if its timeline files were removed. Orphans are therefore
    moved, and `quarantine --restore` moves them back. A file stays if a lost archive may list it, or if another instant
    proves that its write completed.

    nbcc's reads ignore orphans. Apache Hudi's reads return the rows of orphans as soon as newer instants are archived:
    Hudi then regards the instants of the orphans as archived and committed. The exit code is 1 if orphans remain.
    """
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.repair import orphan_files

    with opened(table, "find the orphans of") as storage:
        orphans = orphan_files(audit_of(storage))
        if quarantine:
            refuse_foreign(storage)
        if quarantine and orphans:
            wanted = [orphan.path for orphan in orphans if not orphan.kept]
            foreseen(storage, "move orphans away", lambda planned: planned.delete_all(wanted))
        if quarantine and not dry_run and orphans:
            # A write whose instant is not on the timeline is never published, and a commit lists its files for good.
            with locked(storage, is_proved=True):
                orphans = orphan_files(audit_of(storage))
                quarantining(storage).delete_all([orphan.path for orphan in orphans if not orphan.kept])
    moved = [orphan.path for orphan in orphans if quarantine and not orphan.kept]
    left = [orphan for orphan in orphans if dry_run or orphan.path not in moved]
    if as_json:
        rows = [{"file": o.path, "size": o.size, "because": o.because, "kept": o.kept} for o in orphans]
        answer({"orphans": rows, "quarantined": [] if dry_run else moved, "dry_run": dry_run})
        return Exit.VIOLATED if left else Exit.AGREES
    done("quarantine" if dry_run else "quarantined", moved, dry_run)
    for orphan in orphans if not quarantine else (o for o in orphans if o.kept):
        echo(f"{orphan.path}  {size(orphan.size)}: {orphan.because}")
        if orphan.kept:
            echo(f"  not moved: {orphan.kept}")
    echo(f"{several(len(orphans), 'orphan')}, {size(sum(o.size for o in orphans))}")
    return Exit.VIOLATED if left else Exit.AGREES


@click.command(short_help="Partitions without .hoodie_partition_metadata; --write writes it.")
@click.option("--write", is_flag=True, help="Write the missing files.")
@changes_table
def partitions(table: str, write: bool, dry_run: bool, as_json: bool) -> Exit:
    """List the partitions without .hoodie_partition_metadata. Hudi on Spark does not return the rows of such a
    partition.

    The exit code is 1 if files are still missing.
    """
    from nbcc.engine.audit.amounts import several
    from nbcc.engine.file_names import PARTITION_METADATA, in_partition
    from nbcc.engine.repair import missing_metadata, write_metadata

    with opened(table, "find the partitions of") as storage:
        missing = missing_metadata(audit_of(storage))
        written = write_metadata(storage, missing.items()) if write and not dry_run else []
    paths = [in_partition(partition, PARTITION_METADATA) for partition in missing]
    left = bool(missing) and not (write and not dry_run)
    if as_json:
        answer({"missing": paths, "written": written, "dry_run": dry_run})
        return Exit.VIOLATED if left else Exit.AGREES
    if write:
        done("write" if dry_run else "wrote", paths if dry_run else written, dry_run)
    else:
        for path in paths:
            echo(path)
    echo(f"{several(len(paths), 'partition')} without a metadata file")
    return Exit.VIOLATED if left else Exit.AGREES


@click.command(short_help="Pending compactions; --drop removes one.")
@click.option("--drop", "barrier", metavar="T", help="Move the plan requested at that time, and its files, away.")
@changes_table
def plans(table: str, barrier: str | None, dry_run: bool, as_json: bool) -> Exit:
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


@click.command(short_help="What repairs removed; --restore puts it back, --purge deletes it.")
@click.option("--restore", "restored", metavar="NAME", help="Put the files of this repair back.")
@click.option("--purge", "purged", metavar="NAME", help="Delete the files of this repair. This cannot be undone.")
@click.option("--min-age", default="7d", show_default=True, metavar="AGE",
              help="Purge only a repair of this age (90s, 5m, 2h, 7d).")  # fmt: skip
@changes_table
def quarantine(
    table: str, restored: str | None, purged: str | None, min_age: str, dry_run: bool, as_json: bool
) -> Exit:  # fmt: skip
    """List the quarantine: the files that orphans, rollback, retime and plans have removed from the table, by repair.

    The files are below .hoodie/.nbcc/quarantine, where no reader looks. --restore also takes back what the repair put
    in their place. Purge them once no row is missing: a repair younger than --min-age is not purged.

    \b
    Examples:
      nbcc table /data/trips quarantine
      nbcc table /data/trips quarantine --restore 20260101120000000
    """
    from dataclasses import asdict

    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.repair.quarantine import find_quarantined, purge, put_back, quarantined
    from nbcc.simulator.audit.health import seconds_of

    with users_words():
        age_ms = int(1000 * seconds_of(min_age))
    if restored and purged:
        raise click.UsageError("--restore and --purge exclude each other")
    with opened(table, "read the quarantine of") as storage:
        name, verb = (purged, "purge") if purged else (restored, "put back")
        part = find_quarantined(storage, name, verb) if name else None
        if part is not None and not dry_run:
            with locked(storage):
                if purged:
                    purge(storage, part, now(), age_ms)
                else:
                    put_back(storage, part)
        parts = quarantined(storage)
    if as_json:
        changed = [*part.files] if part else []
        answer({"quarantine": [asdict(each) for each in parts], "changed": changed, "dry_run": dry_run})
        return Exit.AGREES
    if part is not None:
        past = {"purge": "purged", "put back": "put back"}[verb]
        done(verb if dry_run else past, [*part.files], dry_run)
    for each in parts:
        echo(f"{each.name}  {several(len(each.files), 'file')}, {size(each.size)}")
        for path in each.files:
            echo(f"  {path}")
    echo(several(len(parts), "repair"))
    return Exit.AGREES


@click.command(short_help="Correct the completion time of an instant.")
@click.argument("instant", metavar="T")
@changes_table
def retime(table: str, instant: str, dry_run: bool, as_json: bool) -> Exit:
    """Correct the completion time of the instant whose requested time is T.

    A completion time in the future is changed to the current time. A completion time equal to another instant's time is
    increased by one millisecond. If an instant has two completion times, the earlier one remains. A pending instant
    with a requested time in the future is moved into the quarantine, with its files. The command refuses a change that
    would cross another instant's time, because slices, plans and reads depend on the order of times.

    \b
    Examples:
      nbcc table /data/trips retime 20260101120000000 --dry-run
    """
    from nbcc.engine.clock import to_instant
    from nbcc.engine.repair import retime, retiming

    now = to_instant(int(datetime.now(UTC).timestamp() * 1000))
    with opened(table, "correct the times of") as storage:
        made = retiming(audit_of(storage), instant, now)
        foreseen(storage, f"correct the times of {instant}", lambda planned: retime(planned, made), retimes=True)
        if not dry_run:
            with locked(storage):
                made = retiming(audit_of(storage), instant, now)
                retime(quarantining(storage), made)
    if as_json:
        answer({"put": made.put, "deleted": [*made.checkpoints, *made.deleted], "dry_run": dry_run})
        return Exit.AGREES
    done("put", [made.put] if made.put else [], dry_run)
    done("delete" if dry_run else "deleted", [*made.checkpoints], dry_run)
    done("quarantine" if dry_run else "quarantined", [*made.deleted], dry_run)
    return Exit.AGREES


@click.command(short_help="Write again the rows of a log that no reader sees.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@changes_table
def rewrite(table: str, files: tuple[str, ...], dry_run: bool, as_json: bool) -> Exit:
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
