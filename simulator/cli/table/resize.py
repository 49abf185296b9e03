"""`nbcc table TABLE resize`: changes the number of file groups of each partition, while writers continue."""

from __future__ import annotations

import click

from nbcc.engine.errors import BadInput

from ..outcome import Exit
from ..tables import merge_function_option
from .options import changes_table
from .service import master_option, say, service


@click.command(short_help="Change the number of buckets, while writers continue.")
@click.option("--buckets", type=click.IntRange(min=1), metavar="N", help="File groups in each partition.")
@click.option("--cancel", is_flag=True, help="Cancel the pending resize.")
@master_option
@merge_function_option
@changes_table
def command(
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
