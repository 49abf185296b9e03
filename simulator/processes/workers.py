"""What the processes do until they are killed: write, compact, read. Each runs in a process of its own."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from nbcc.engine.errors import Conflict
from nbcc.engine.table import Table

from ..checkers.history import HOT, key_of
from .notes import Notes

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("batch", pa.string())])
PAUSE_SECONDS = 0.02
MOST_KEYS = 6


def work(kind: str, name: str, folder: Path, notes: Path) -> None:
    """The main function of a process; an error is written down, and ends it."""
    note = Notes(notes)
    try:
        table = Table.open(None, folder)
        {"writer": write, "compactor": compact, "reader": read}[kind](table, name, note)
    except Exception as error:
        note.add("failed", error=f"{type(error).__name__}: {error}")


def write(table: Table, name: str, note: Notes) -> None:
    """Batches of fresh keys, each with the one key that everybody updates."""
    chance = random.Random(name)
    number = 0
    while True:
        number += 1
        batch, size, ordering = f"{name}.{number}", 1 + chance.randrange(MOST_KEYS), time.time_ns()
        note.add("begins", what="write", batch=batch, size=size, ordering=ordering)
        table.upsert(rows_of(batch, size, ordering))
        note.add("wrote", batch=batch)
        time.sleep(chance.random() * PAUSE_SECONDS)


def rows_of(batch: str, size: int, ordering: int) -> pa.Table:
    """A batch as the table takes it."""
    keys = [*(key_of(batch, key) for key in range(size)), HOT]
    columns: dict[str, Any] = {"id": keys, "ts": [ordering] * len(keys), "batch": [batch] * len(keys)}
    return pa.table(columns, schema=SCHEMA)


def compact(table: Table, name: str, note: Notes) -> None:
    """Plans of the dead first, then one of its own after another."""
    note.add("begins", what="compaction")
    while table.run_compaction() is not None:
        note.add("resumed")
        note.add("begins", what="compaction")
    while True:
        note.add("begins", what="compaction")
        table.compact()
        note.add("compacted")
        time.sleep(5 * PAUSE_SECONDS)


def read(table: Table, name: str, note: Notes) -> None:
    """Snapshots as of the settled time."""
    while True:
        look(table, note)
        time.sleep(10 * PAUSE_SECONDS)


def look(table: Table, note: Notes) -> None:
    """One snapshot, noted with all its rows."""
    began = note.add("begins", what="read")
    settled = table.settled()
    if settled is None:
        return
    try:
        found = table.as_of(settled).to_pylist()
    except Conflict as refused:  # a time that lies in the future of a clock is no answer, and no wrong one
        note.add("refused", error=str(refused))
        return
    rows = [(row["id"], row["batch"], row["_hoodie_commit_time"]) for row in found]
    note.add("read", began=began, time=settled, rows=rows)
