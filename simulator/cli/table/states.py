"""Commands of `nbcc table TABLE …` that return to an earlier state of the table, or change how it is stored."""

from __future__ import annotations

import click

from nbcc.engine.config.record_index import INSERTS, TYPES, UPDATES_ONLY
from nbcc.engine.errors import BadInput

from ..outcome import Exit
from ..tables import merge_function_option
from .shared import OpenedService, changes_table, master_option, say, service


@click.command(short_help="Pin the state after an instant, or drop a savepoint.")
@click.option("--instant", metavar="T", help="The instant requested at that time.  [default: the newest completed one]")
@click.option("--drop", is_flag=True, help="Drop the savepoint of the instant.  [default: the oldest]")
@changes_table
def savepoint(table: str, instant: str | None, drop: bool, dry_run: bool, as_json: bool) -> Exit:
    """Protect the files that a read as of the instant's completion time needs, so that `restore` can return to that
    state.

    While the savepoint exists, instants requested after its instant are not archived. After the savepoint is dropped,
    the next clean may delete the protected files.

    \b
    Examples:
      nbcc table /data/trips savepoint --dry-run
      nbcc table /data/trips savepoint --drop --instant 20260101120000000
    """
    with service(table, "make a savepoint of", dry_run) as work:
        lines = [_drop(work, instant) if drop else _make(work, instant)]
    return say(work, lines, as_json)


def _make(work: OpenedService, instant: str | None) -> str:
    from nbcc.engine.audit.amounts import several, size
    from nbcc.engine.services.savepoints import decoded

    saved = work.table.savepoint(instant=instant)
    work.ran.append(saved)
    paths = decoded(work.table.context, saved).paths
    return f"savepoint {saved.requested}: {several(len(paths), 'file')}, {size(work.size_of(paths))}"


def _drop(work: OpenedService, instant: str | None) -> str:
    dropped = work.table.delete_savepoint(instant=instant)
    return f"savepoint {dropped.requested}: {'would be dropped' if work.dry_run else 'dropped'}"


@click.command(short_help="Return to a savepoint: undo later and pending instants.")
@click.option("--to", "instant", metavar="T",
              help="The savepoint of the instant requested at that time.  [default: the newest]")  # fmt: skip
@changes_table
def restore(table: str, instant: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Undo all instants that completed after the savepoint's instant, and all pending writes and compactions.

    Once the plan is published, readers of nbcc ignore the undone instants, running writers are refused, and new writers
    can start. If a restore is pending, the command only finishes the pending restore. Reads as of a time that the
    restore has undone are refused. Readers of other engines see intermediate states while the restore runs.

    \b
    Examples:
      nbcc table /data/trips restore --dry-run
      nbcc table /data/trips restore --to 20260101120000000
    """
    from nbcc.engine.timeline.restores import load_restore_plan

    with service(table, "restore", dry_run) as work:
        done = work.table.restore(instant=instant)
        work.ran = [done] if done else []
        plan = load_restore_plan(work.storage, done.requested) if done else None
    undone = plan.undone if plan else ()
    would = "would undo" if dry_run else "undid"
    lines = [f"{would} the {action} {requested}" for requested, action in undone]
    nothing = "nothing to undo since the savepoint"
    lines += [f"restore {plan.requested}: back to {plan.savepoint}" if plan else nothing]
    return say(work, lines, as_json, undone=[requested for requested, _ in undone])


@click.command(short_help="Undo writes whose writers have failed.")
@click.option("--instant", metavar="T", help="Only the write requested at that time.")
@changes_table
def rollback(table: str, instant: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Remove the files of pending writes whose heartbeat is older than two minutes, then the instants of these writes.

    A write is also pending if its completed file was removed. The files are therefore moved into the quarantine, and
    `quarantine --restore` moves them back. No reader sees the files of a pending write, so a rollback does not change
    the result of any read. Running writes are skipped, and completed writes are never undone. A failed compaction needs
    no rollback: `compact` resumes its plan.

    \b
    Examples:
      nbcc table /data/trips rollback --dry-run
      nbcc table /data/trips rollback --instant 20260101120000000
    """
    from nbcc.engine.timeline import load_rollback_plan

    with service(table, "roll back", dry_run, quarantine=True) as work:
        work.ran = list(work.table.rollback(instant=instant))
        undone = [load_rollback_plan(work.storage, done.requested) for done in work.ran]
        lines = [
            f"rollback {done.requested}: {'would undo' if dry_run else 'undid'} the {plan.action} {plan.target}"
            for done, plan in zip(work.ran, undone, strict=True)
        ]
        alive = _pending_writes(work) if instant is None else []
    lines += [f"left alone: the {action} {requested}, whose writer is alive" for action, requested in alive]
    nothing = ["nothing to roll back: no write has failed"] if not work.ran else []
    return say(work, [*nothing, *lines], as_json, undone=[plan.target for plan in undone])


def _pending_writes(work: OpenedService) -> list[tuple[str, str]]:
    return [
        (i.action, i.requested)
        for i in work.table.timeline()
        if not i.completed and i.action in ("deltacommit", "commit")
    ]


@click.command(short_help="Change the number of buckets, while writers continue.")
@click.option("--buckets", type=click.IntRange(min=1), metavar="N", help="File groups in each partition.")
@click.option("--cancel", is_flag=True, help="Cancel the pending resize.")
@master_option
@merge_function_option
@changes_table
def resize(
    table: str, buckets: int | None, cancel: bool, master: str | None, dry_run: bool, as_json: bool
) -> Exit:
    """Give the keys of each partition to N file groups. Without --buckets, complete the pending resize.

    Writers, readers and streams continue, and none of them is refused. An interrupted resize is completed by the same
    command, or cancelled. Hudi's writers must be stopped before, and started with the new number after it.

    \b
    Examples:
      nbcc table /data/trips resize --dry-run --buckets 16
      nbcc table /data/trips resize --buckets 16
      nbcc table /data/trips resize              complete a pending resize
      nbcc table /data/trips resize --cancel
    """
    if cancel and buckets is not None:
        raise BadInput("resize the table", "--cancel and --buckets are both given", "give one of the two")
    with service(table, "resize", dry_run, master) as work:
        done = work.table.cancel_resize() if cancel else work.table.resize(buckets)
        work.ran += [done] if done is not None and done.completed else []
    if cancel:
        verb = "would be cancelled" if dry_run else "cancelled"
        return say(work, [f"resize {done.requested}: {verb}" if done else "no resize is pending"], as_json)
    if done is None:
        nothing = "no resize is pending" if buckets is None else f"each partition has {buckets} buckets already"
        return say(work, [nothing], as_json)
    made = work.table.context.commits.commit(done)
    groups = len({(stat.partition, stat.file_id) for stat in made.stats})
    verb = "would write" if dry_run else "wrote"
    line = f"resize {done.requested}: {verb} {groups} file groups in place of {len(made.groups_replaced)}"
    return say(work, [line], as_json)


@click.command(short_help="Make a record index, while no process writes.")
@click.option("--type", "kind", type=click.Choice(list(TYPES)), default="RECORD_INDEX", show_default=True,
              help="Value of Hudi's option hoodie.index.type.")  # fmt: skip
@click.option("--inserts", type=click.Choice(list(INSERTS)), default=UPDATES_ONLY, show_default=True,
              help="Which writes insert a key that the index lacks: only bulk inserts, or every write.")  # fmt: skip
@master_option
@merge_function_option
@changes_table
def index(table: str, kind: str, inserts: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Make a record index of the keys in the table. Updates and deletes of known keys stay non-blocking. With
    updates_only, only a bulk insert inserts keys, and a write of any other key is refused. With moved, every write
    inserts keys: the first one to complete decides the partition of a key, and other writes move their records there.

    End all processes that write to the table first: they must open it again. Under RECORD_LEVEL_INDEX, a key may be in
    several partitions; under the other types, in one.

    \b
    Examples:
      nbcc table /data/trips index
      nbcc table /data/trips index --inserts moved
      nbcc table /data/trips index --dry-run --type RECORD_LEVEL_INDEX
    """
    with service(table, "index", dry_run, master) as work:
        done = work.table.index(kind, inserts)
        verb = "would be made" if dry_run else "made"
        made = f"a record index of the type {TYPES[kind]} {verb}, inserts {inserts}"
        line = made if done else f"it has the type {TYPES[kind]} already, inserts {inserts}"
    return say(work, [line], as_json, made=done)


@click.command(short_help="Change how commits are decided, while no process writes.")
@click.option("--decision", required=True, metavar="D", help="lock, log, shared or free (docs/locks.md).")
@click.option("--publication", default="ascending", metavar="P", help="ascending, or with free also parallel.")
@changes_table
def convert(table: str, decision: str, publication: str, dry_run: bool, as_json: bool) -> Exit:
    """Change the options nbcc.decision and nbcc.publication of the table.

    End all processes that write to the table first: they must open it again. So must readers if the publication
    changes. The command is refused while an instant is
    pending or announced, or while another process holds the table's lock.

    \b
    Examples:
      nbcc table /data/trips convert --decision free
      nbcc table /data/trips convert --decision free --publication parallel
      nbcc table /data/trips convert --dry-run --decision lock
    """
    with service(table, "convert", dry_run) as work:
        from nbcc.engine.actions import convert
        from nbcc.engine.config.coordination import mode_of

        before, after = work.table.config.coordination.mode, mode_of(decision, publication)
        done = convert.run(work.table.context, work.table.config, decision, publication)
        verb = "would be converted" if dry_run else "converted"
        line = f"{verb} from nbcc.decision={before} to {after}" if done else f"nbcc.decision is {after} already"
    return say(work, [line], as_json, converted=done)
