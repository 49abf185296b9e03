"""Small tables of our own with a clock that ticks, so that every instant and message is known beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from nbcc.engine import Context, Table, create_table
from nbcc.engine.clock import to_instant
from nbcc.engine.config.concurrency import NON_BLOCKING
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.lock import InProcessLock
from nbcc.engine.lock.between_processes import FILE
from nbcc.engine.names import RandomNames
from nbcc.engine.storage import open_storage

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("a", pa.string())])

EPOCH = 1_767_225_600_000  # 2026-01-01T00:00:00Z


def tick(number: int) -> str:
    """The instant that the clock gives as its `number`-th."""
    return to_instant(EPOCH + number)


class TickClock:
    """Gives `tick(1)`, `tick(2)`, …; knows no waiting."""

    def __init__(self) -> None:
        self.now = 0

    def take(self) -> str:
        self.now += 1
        return tick(self.now)

    def not_before(self, instant: str) -> None:
        assert instant <= tick(self.now), f"{instant} was never taken"


def context(folder: Path) -> Context:
    storage, names = open_storage(folder), RandomNames()
    return Context(storage, InProcessLock(storage.url), TickClock(), names, InProcessJobs(storage, names))


def make_table(folder: Path, **changes: Any) -> Table:
    """A new table `t` of ours in `folder`, partitioned by `part`; `changes` are arguments of `Table.create`."""
    given = {
        "record_key": "id",
        "ordering_fields": "ts",
        "partition_by": "part",
        "buckets": 1,
        "merge_mode": "EVENT_TIME_ORDERING",
        "table_type": "MERGE_ON_READ",
        "concurrency_mode": NON_BLOCKING,
        "options": {},
        "schema": SCHEMA,
        **changes,
    }
    return create_table(context(folder), table_config("t", **given))


def batch(*rows: tuple[Any, ...], schema: pa.Schema = SCHEMA) -> pa.Table:
    """Rows (id, ts, a) of partition p."""
    return pa.Table.from_pylist(
        [dict(zip(("id", "part", "ts", "a"), (r[0], "p", *r[1:]), strict=True)) for r in rows], schema
    )


def keys(*rows: tuple[str, int | None]) -> pa.Table:
    """Keys (id, ts) of partition p, to be deleted."""
    named = [{"id": key, "part": "p", "ts": ordering} for key, ordering in rows]
    return pa.Table.from_pylist(named, pa.schema([SCHEMA.field(name) for name in ("id", "part", "ts")]))


def state(rows: pa.Table) -> set[tuple[Any, ...]]:
    """(id, ts, a) of each row."""
    return {(row["id"], row["ts"], row["a"]) for row in rows.to_pylist()}


def window(rows: pa.Table) -> set[tuple[Any, ...]]:
    """(id, ts, a, deleted) of each record of a window."""
    return {(row["id"], row["ts"], row["a"], row["_hoodie_is_deleted"]) for row in rows.to_pylist()}


def files(table: Table) -> list[str]:
    """Everything that lies in the table's folder, but the empty file that is its lock."""
    return [entry.path for entry in table.context.storage.list("") if entry.path != FILE]


def paths(found: Iterable[Any]) -> list[str]:
    return [each.path for each in found]
