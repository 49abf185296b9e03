"""A random walk through the operations of one table."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from nbcc.engine import Table
from nbcc.engine.errors import BadInput, Cleaned, Conflict
from nbcc.engine.reads.times import BEGINNING
from nbcc.engine.services.consumers import publish_progress
from nbcc.engine.timeline import load
from nbcc.engine.timeline.heartbeats import FOLDER as HEARTBEATS
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.tables import SCHEMA, keys, table_of

CONSUMED: Final = {"nbcc.consumer.hours": "5"}
"""The options of a table whose cleans do not wait long for the consumer."""


def write(table: Table, chance: random.Random) -> None:
    number = chance.randrange(1_000_000)
    rows = table_of(SCHEMA, *((f"k{chance.randrange(9)}", chance.choice("ppq"), number, "x") for _ in range(2)))
    done = table.upsert(rows, batch_id=f"q/{number}")
    requested, listed = done.requested, table.context.commits.commit(done).stats[0].path
    for path in (f"{HEARTBEATS}/{requested}", f".hoodie/.temp/{requested}/{listed}.marker.CREATE"):
        table.context.storage.put(path, b"")


def remove(table: Table, chance: random.Random) -> None:
    table.delete(keys((f"k{chance.randrange(9)}", chance.randrange(1_000_000))))


def overwrite(table: Table, chance: random.Random) -> None:
    with suppress(Conflict):  # a plan is pending
        table.insert_overwrite(table_of(SCHEMA, (f"k{chance.randrange(9)}", chance.choice("ppq"), 1, "y")))


def schedule_compaction(table: Table, chance: random.Random) -> None:
    table.schedule_compaction()


def schedule_log_compaction(table: Table, chance: random.Random) -> None:
    table.schedule_log_compaction()


def log_compact(table: Table, chance: random.Random) -> None:
    table.log_compact()


def compact(table: Table, chance: random.Random) -> None:
    table.compact()


def follow(table: Table, chance: random.Random) -> None:
    whole = table.context.history().whole
    completed = [instant.completed for instant in whole.instants if instant.completed]
    publish_progress(table.context, "follower", chance.choice([*completed, BEGINNING]))


def clean(table: Table, chance: random.Random) -> None:
    table.clean(retained=chance.randint(1, 4))


def archive(table: Table, chance: random.Random) -> None:
    if (saved := load(table.context.storage).savepoints) and chance.random() < 0.7:  # a savepoint stops archiving
        table.delete_savepoint(saved[0])
    moved = table.archive(retained=chance.randint(1, 4))
    if moved and chance.random() < 0.3:  # as an archiver that died before it had deleted the last instant
        content = table.context.commits.content(moved[-1])
        table.context.storage.put(f"{FOLDER}/{moved[-1].file_name}", content)


def collect(table: Table, chance: random.Random) -> None:
    table.run("collect", batch_hours=60)


def save(table: Table, chance: random.Random) -> None:
    with suppress(BadInput, Cleaned):  # there is nothing to pin
        table.savepoint()


OPERATIONS: Final[Mapping[Callable[[Table, random.Random], None], int]] = {
    write: 45, remove: 5, overwrite: 3, follow: 3, save: 2, clean: 14, archive: 12, collect: 8,
    schedule_compaction: 4, schedule_log_compaction: 5, log_compact: 5, compact: 8,
}  # fmt: skip
"""Operation -> how often it is chosen."""
