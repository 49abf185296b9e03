"""A write that fails and leaves its instant stops its heartbeat, even if its process is alive: others undo it."""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from nbcc import Table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import LockTimeout
from nbcc.engine.lock import BetweenProcesses
from nbcc.engine.lock.between_processes import FILE
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from tests.builders.tables import SCHEMA, batch, state

from .hooked import Hooked, during


def quick(path: Path) -> Table:
    """A table whose writers count as dead after a second without a beat, and wait no longer for its lock."""
    made = Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1)
    heartbeats = StoredHeartbeats(made.context.storage, interval=0.2, misses=5)
    lock = BetweenProcesses(made.context.storage.url, wait_seconds=0.05)
    return Table(replace(made.context, own_heartbeats=heartbeats, lock=lock), made.config)


def undone(table: Table) -> bool:
    """Whether what is pending is rolled back before long; nothing of it is left then."""
    until = time.monotonic() + 30
    while not (done := table.rollback()) and time.monotonic() < until:
        time.sleep(0.02)
    return bool(done) and state(table.snapshot()) == {("k1", 1, "a")}


@dataclass
class Failing(Hooked):
    """A storage that raises `error` when a path with this end is put."""

    end: str = ""
    error: BaseException = field(default_factory=OSError)

    def _reached(self, verb: str, path: str) -> None:
        if verb == "put" and path.endswith(self.end):
            raise self.error


@pytest.mark.parametrize(
    ("end", "error"),
    [("p/.hoodie_partition_metadata", KeyboardInterrupt()), (".deltacommit", OSError("no space left"))],
    ids=["interrupted", "not completed"],
)
def test_what_is_left_is_rolled_back(end: str, error: BaseException, tmp_path: Path) -> None:
    table = quick(tmp_path)
    table.upsert(batch(("k1", 1, "a")))
    storage = Failing(table.context.storage, end=end, error=error)
    jobs = InProcessJobs(storage, table.context.names)
    with pytest.raises(type(error)):
        Table(replace(table.context, storage=storage, jobs=jobs), table.config).upsert(batch(("k2", 1, "b")))
    assert undone(table)


def test_a_lock_that_another_process_keeps_is_a_timeout(tmp_path: Path) -> None:
    table = quick(tmp_path)
    table.upsert(batch(("k1", 1, "a")))
    opened = os.open(tmp_path / FILE, os.O_RDWR)  # another open file, as another process has it

    with pytest.raises(LockTimeout, match="another process has held"):
        during(table, ".log.", lambda: fcntl.flock(opened, fcntl.LOCK_EX)).upsert(batch(("k2", 1, "b")))
    os.close(opened)
    assert undone(table)
