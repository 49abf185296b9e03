"""Small tables of nbcc and their rows. A clock that ticks makes every instant and message predictable."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from nbcc.engine import Context, Table, create_table
from nbcc.engine.clock import Clock, to_instant
from nbcc.engine.config.concurrency import NON_BLOCKING
from nbcc.engine.data.columns import IS_DELETED
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.lock import InProcessLock
from nbcc.engine.lock.between_processes import FILE
from nbcc.engine.names import RandomNames
from nbcc.engine.storage import Storage, open_storage

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("a", pa.string())])

EPOCH = 1_767_225_600_000  # 2026-01-01T00:00:00Z


def tick(number: int) -> str:
    """The `number`-th instant of a `TickClock`."""
    return to_instant(EPOCH + number)


class TickClock(Clock):
    """Returns `tick(1)`, `tick(2)`, …, and never waits."""

    def __init__(self) -> None:
        self.now = 0

    def take(self) -> str:
        self.now += 1
        return tick(self.now)

    def read(self) -> str:
        return self.take()

    def take_unlocked(self) -> str:
        return self.take()

    def not_before(self, instant: str) -> None:
        assert instant <= tick(self.now), f"{instant} was never taken"

    def pause(self, seconds: float) -> None: ...


class HourClock(TickClock):
    """A clock whose readings are an hour apart."""

    def take(self) -> str:
        self.now += 3_600_000
        return tick(self.now)


def context(folder: Path, clock: Clock | None = None) -> Context:
    return context_of(open_storage(folder), clock)


def context_of(storage: Storage, clock: Clock | None = None) -> Context:
    names = RandomNames()
    return Context(storage, InProcessLock(storage.url), clock or TickClock(), names, InProcessJobs(storage, names))


def make_table(folder: Path, *, clock: Clock | None = None, **changes: Any) -> Table:
    """A new table `t` of nbcc in `folder`, partitioned by `part`; `changes` are arguments of `Table.create`."""
    arguments = {
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
    return create_table(context(folder, clock), table_config("t", **arguments))


def table_of(schema: pa.Schema, *values: tuple[Any, ...]) -> pa.Table:
    """A table of `schema` with a row for each tuple."""
    return pa.Table.from_pylist([dict(zip(schema.names, each, strict=True)) for each in values], schema)


def batch(*values: tuple[Any, ...], schema: pa.Schema = SCHEMA) -> pa.Table:
    """Rows (id, ts, a) of partition p."""
    named = [dict(zip(SCHEMA.names, (key, "p", *rest), strict=True)) for key, *rest in values]
    return pa.Table.from_pylist(named, schema)


def keys(*values: tuple[str, int | None]) -> pa.Table:
    """Keys (id, ts) of partition p, for a delete."""
    return table_of(SCHEMA.remove(3), *((key, "p", ordering) for key, ordering in values))


def with_deletes(upserts: pa.Table, column: str) -> pa.Table:
    """The same rows, of which those without a value in `column` are deletes."""
    return upserts.append_column(IS_DELETED, upserts[column].is_null())


def state(table: pa.Table, column: str = "a") -> set[tuple[Any, ...]]:
    """(id, ts, value of `column`) of each row."""
    return {(row["id"], row["ts"], row[column]) for row in table.to_pylist()}


def with_value(table: Table, value: str) -> set[str]:
    """The ids of the rows of a snapshot whose column `a` has this value."""
    return {key for key, _, found in state(table.snapshot()) if found == value}


def window(table: pa.Table) -> set[tuple[Any, ...]]:
    """(id, ts, a, deleted) of each record of a window."""
    return {(row["id"], row["ts"], row["a"], row["_hoodie_is_deleted"]) for row in table.to_pylist()}


def files(table: Table) -> list[str]:
    """The paths of all files of a table except its lock file."""
    return [entry.path for entry in table.context.storage.list("") if entry.path != FILE]


def paths(entries: Iterable[Any]) -> list[str]:
    return [entry.path for entry in entries]


def data_files(table: Table) -> set[str]:
    return {path for path in files(table) if ".log." in path or path.endswith(".parquet")}
