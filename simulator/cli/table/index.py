"""`nbcc table TABLE index`: makes a record index of the table's keys, after which writers update and delete them."""

from __future__ import annotations

import click

from nbcc.engine.config.record_index import TYPES

from ..outcome import Exit
from ..tables import merge_function_option
from .options import changes_table
from .service import master_option, say, service


@click.command(short_help="Make a record index, while no process writes.")
@click.option("--type", "kind", type=click.Choice(list(TYPES)), default="RECORD_INDEX", show_default=True,
              help="Value of Hudi's option hoodie.index.type.")  # fmt: skip
@master_option
@merge_function_option
@changes_table
def command(table: str, kind: str, master: str | None, dry_run: bool, as_json: bool) -> Exit:
    """Make a record index of the keys in the table. After it, only a bulk insert inserts keys, and a write of any
    other key is refused. Updates and deletes of known keys stay non-blocking.

    End all processes that write to the table first: they must open it again. Under RECORD_LEVEL_INDEX, a key may be in
    several partitions; under the other types, in one.

    \b
    Examples:
      nbcc table /data/trips index
      nbcc table /data/trips index --dry-run --type RECORD_LEVEL_INDEX
    """
    with service(table, "index", dry_run, master) as work:
        done = work.table.index(kind)
        verb = "would be made" if dry_run else "made"
        line = f"a record index of the type {TYPES[kind]} {verb}" if done else f"it has the type {TYPES[kind]} already"
    return say(work, [line], as_json, made=done)
