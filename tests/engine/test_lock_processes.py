"""The lock among processes: nobody gets in beside its holder, and it is free again when its holder is killed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.errors import Conflict
from nbcc.engine.lock import BetweenProcesses, InProcessLock, held, table_lock
from nbcc.engine.table import Table

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / ".hoodie").mkdir()
    return tmp_path.as_uri()


def another_process(url: str, does: str) -> subprocess.Popen[str]:
    """A process that says "held" once it holds the lock of `url`, and then goes on with `does`."""
    code = f"""
        import sys, time
        from nbcc.engine.lock import BetweenProcesses
        lock = BetweenProcesses({url!r})
        lock.acquire()
        print("held", flush=True)
        {does}
    """
    started = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "held\n"
    return started


def test_one_process_at_a_time(url: str) -> None:
    other = another_process(url, "time.sleep(60)")
    try:
        began = time.monotonic()
        with pytest.raises(Conflict, match="another process has held"):
            BetweenProcesses(url, wait_seconds=0.05).acquire()
        assert time.monotonic() - began < 5
    finally:
        other.kill()
        other.wait()
    with held(BetweenProcesses(url, wait_seconds=5)):  # the killed process left nothing behind
        pass


def test_whoever_waits_gets_it_next(url: str) -> None:
    other = another_process(url, "time.sleep(0.2); lock.release()")
    with held(BetweenProcesses(url, wait_seconds=10)), pytest.raises(Conflict, match="another thread"):
        BetweenProcesses(url, wait_seconds=0.01).acquire()
    assert other.wait() == 0


def test_only_own_local_tables_hold_a_lock_file(tmp_path: Path) -> None:
    assert isinstance(table_lock("s3://lake/t"), InProcessLock)
    Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts")
    table = Table.open(None, tmp_path / "t")
    assert isinstance(table.context.lock, BetweenProcesses)
    table.upsert(pa.table({"id": ["k"], "ts": pa.array([1], pa.int64())}, schema=SCHEMA))
    assert (tmp_path / "t/.hoodie/.nbcc.lock").read_bytes() == b""


def test_a_folder_that_is_gone_is_a_conflict(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="cannot be opened"):
        BetweenProcesses((tmp_path / "nowhere").as_uri()).acquire()
