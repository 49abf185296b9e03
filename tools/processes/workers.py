"""The work of the processes until they are killed: they write, compact, roll back or read."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from nbcc.engine.clock import SHARED_SKEW_MS, WallClock
from nbcc.engine.errors import Conflict, StorageError
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.table import Table
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from tools.processes.checkers import HOT, key_of

from .notes import LATE, Notes, unanswered

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("batch", pa.string())])
PAUSE_SECONDS = 0.02
MOST_KEYS = 6


BEAT_SECONDS = 0.25
MISSES = 8
"""A heartbeat expires after this many missed beats; few, so that it happens within a run."""
LEASE_SECONDS, RENEWAL_SECONDS, WAIT_SECONDS = 3.0, 0.5, 60.0
"""Of the lock of a table in an object store; a killed holder blocks the others for one lease."""


LEASE_IS_OVER = "left of its lease"
"""What a holder of the lock says that may not go on."""
TIMED_OUT = re.compile(r"elapsed: ([0-9.]+)(m?s),.*kind: Timeout", re.DOTALL)
"""What the store's library says if a request ended at its time limit. Of a broken connection it says another kind."""


@dataclass(frozen=True, slots=True)
class Place:
    """A table's URL or folder, and how a process opens the table.

    `apart_ms` is the difference between the clocks of two processes, for a table in an object store. The lock of such a
    table is a lease of `LEASE_SECONDS`.
    """

    url: str
    options: Mapping[str, Any] = field(default_factory=dict)
    apart_ms: int | None = None


def opened(place: Place, number: int = 0) -> Table:
    """Open the table, with short heartbeats, as every process opens it. The clocks of odd processes are ahead."""
    table = Table.open(None, place.url, place.options or None)
    heartbeats = StoredHeartbeats(table.context.storage, BEAT_SECONDS, MISSES)
    context = replace(table.context, own_heartbeats=heartbeats)
    if place.apart_ms is not None:
        ahead_ms = place.apart_ms * (number % 2)
        assert isinstance(context.clock, WallClock)
        clock = context.clock.of_another_machine(partial(_ahead, 1_000_000, ahead_ms), SHARED_SKEW_MS)
        lease = (LEASE_SECONDS, RENEWAL_SECONDS)
        lock = StorageLock(context.storage, WAIT_SECONDS, *lease, now=partial(_ahead, 1, ahead_ms))
        context = replace(context, clock=clock, lock=lock)
    return Table(context, table.config)


def _ahead(units_a_ms: int, ahead_ms: int) -> int:
    """Return the time of a clock that is ahead, in the units of the caller since the epoch."""
    return time.time_ns() * units_a_ms // 1_000_000 + ahead_ms * units_a_ms


def work(kind: str, name: str, place: Place, notes: Path, before: Path | None) -> None:
    """Run the main function of a process, which records an error and ends. `before` contains the notes of the process
    that this process replaces.
    """
    note = Notes(notes)
    try:
        table = opened(place, int(name.rpartition("-")[2]))
        while not _done(kind, name, table, note, before):
            before = notes
    except Exception as error:  # the parent process reads it in the notes
        note.add("failed", error=f"{type(error).__name__}: {error}")


def _done(kind: str, name: str, table: Table, note: Notes, before: Path | None) -> bool:
    """Run the main function of a process. Returns False if it is to run again, because a request ended at its time
    limit or the lease did: what is left of a lease limits the requests of its holder, and a busy machine takes longer.
    """
    try:
        if kind == "writer" and before and (batch := unanswered(before)):
            send_again(table, note, batch)
        {"writer": write, "compactor": compact, "rollbacker": roll_back, "reader": read}[kind](table, name, note)
    except (StorageError, Conflict) as late:
        if not is_late(late):
            raise
        note.add(LATE, error=str(late))
        return False
    return True


def is_late(error: StorageError | Conflict) -> bool:
    """Return whether an operation ended because its lease was over, or because a request reached the limit that the
    lease sets. Without a lease a request may take longer than a whole lease, so that reaching that limit is a failure.
    """
    if isinstance(error, Conflict):
        return LEASE_IS_OVER in str(error)
    ended = TIMED_OUT.search(str(error.__cause__))
    return ended is not None and float(ended[1]) * {"s": 1, "ms": 0.001}[ended[2]] < LEASE_SECONDS


def write(table: Table, name: str, note: Notes) -> None:
    """Write batches of new keys; each batch also updates one key that all writers share."""
    chance = random.Random(name)
    while True:
        ordering = time.time_ns()  # also distinguishes the batches of a process that begins again
        put(table, note, f"{name}.{ordering}", 1 + chance.randrange(MOST_KEYS), ordering)
        time.sleep(chance.random() * PAUSE_SECONDS)


def put(table: Table, note: Notes, batch: str, size: int, ordering: int) -> None:
    """Write one batch. The batch is refused if the heartbeat expired, which can happen on a busy machine."""
    note.add("begins", what="write", batch=batch, size=size, ordering=ordering)
    try:
        table.upsert(rows_of(batch, size, ordering), batch_id=batch)
    except Conflict as refused:
        note.add("refused", error=str(refused))
    else:
        note.add("wrote", batch=batch)


def send_again(table: Table, note: Notes, batch: dict[str, Any]) -> None:
    """Send the last batch of a killed process again, because its caller does not know whether it was written."""
    note.add("resent")
    put(table, note, batch["batch"], batch["size"], batch["ordering"])


def roll_back(table: Table, name: str, note: Notes) -> None:
    """Roll back writes of killed processes, and continue unfinished rollbacks, while others write."""
    while True:
        note.add("begins", what="rollback")
        done = table.rollback()
        note.add("rolled back", instants=[instant.requested for instant in done])
        time.sleep(5 * PAUSE_SECONDS)


def rows_of(batch: str, size: int, ordering: int) -> pa.Table:
    keys = [*(key_of(batch, key) for key in range(size)), HOT]
    columns: dict[str, Any] = {"id": keys, "ts": [ordering] * len(keys), "batch": [batch] * len(keys)}
    return pa.table(columns, schema=SCHEMA)


def compact(table: Table, name: str, note: Notes) -> None:
    """Execute the plans of killed compactors, then plan and compact repeatedly."""
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
    """Read snapshots as of the settled time, repeatedly."""
    while True:
        look(table, note)
        time.sleep(10 * PAUSE_SECONDS)


def look(table: Table, note: Notes) -> None:
    """Read one snapshot and record all its rows."""
    began = note.add("begins", what="read")
    settled = table.settled()
    if settled is None:
        return
    try:
        found = table.as_of(settled).to_pylist()
    except Conflict as refused:  # the settled time is in the future of this clock: there is no answer, so no wrong one
        note.add("refused", error=str(refused))
        return
    rows = [(row["id"], row["batch"], row["_hoodie_commit_time"]) for row in found]
    note.add("read", began=began, time=settled, rows=rows)
