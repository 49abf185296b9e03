"""The lock among processes excludes all but its holder, and is free again when its holder is killed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.errors import Conflict
from nbcc.engine.lock import BetweenProcesses, held
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
        with pytest.raises(Conflict, match="another process has held"):
            BetweenProcesses(url, wait_seconds=0.05).acquire()
    finally:
        other.kill()
        other.wait()
    with held(BetweenProcesses(url, wait_seconds=5)):  # the killed process left nothing behind
        pass


def test_a_waiting_process_gets_it_next(url: str) -> None:
    other = another_process(url, "time.sleep(0.2); lock.release()")
    with held(BetweenProcesses(url, wait_seconds=10)), pytest.raises(Conflict, match="another thread"):
        BetweenProcesses(url, wait_seconds=0.01).acquire()
    assert other.wait() == 0


def test_only_own_local_tables_hold_a_lock_file(tmp_path: Path) -> None:
    Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts")
    table = Table.open(None, tmp_path / "t")
    assert isinstance(table.context.lock, BetweenProcesses)
    table.upsert(pa.table({"id": ["k"], "ts": pa.array([1], pa.int64())}, schema=SCHEMA))
    assert (tmp_path / "t/.hoodie/.nbcc.lock").read_bytes() == b""


def test_a_folder_that_is_gone_is_a_conflict(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="cannot be opened"):
        BetweenProcesses((tmp_path / "nowhere").as_uri()).acquire()


WRITER = """
    import sys
    import pyarrow as pa
    from nbcc.engine.schema import to_spark
    from nbcc.engine.data_source import NbccSource
    path, name = sys.argv[1:]
    for number in range(5):
        rows = pa.table({"id": [f"{name}{number}"], "ts": pa.array([number], pa.int64())})
        writer = NbccSource({"path": path, "hoodie.table.recordkey.fields": "id"}).writer(to_spark(rows.schema), False)
        writer.commit([writer.write(iter(rows.to_batches()))])
"""


def test_writers_in_several_processes_take_distinct_times_in_order(tmp_path: Path) -> None:
    path = tmp_path / "t"
    table = Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=2)
    code = textwrap.dedent(WRITER)
    others = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("a", "b", "c")]
    for number in range(10):
        table.upsert(pa.table({"id": [f"own{number}"], "ts": pa.array([number], pa.int64())}, schema=SCHEMA))
        table.compact()
    assert [other.wait() for other in others] == [0, 0, 0]
    times = [time for instant in table.timeline() for time in (instant.requested, instant.completed)]
    assert None not in times
    assert len(set(times)) == len(times)
    names = {row["id"] for row in table.snapshot().to_pylist()}
    assert names == {f"own{number}" for number in range(10)} | {f"{name}{n}" for name in "abc" for n in range(5)}
