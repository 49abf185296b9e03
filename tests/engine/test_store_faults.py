"""The fault table: every kind of put x every failed answer. Nothing is lost, and nothing happens twice.

Each row names a kind of put and the operation that sends it; each column an answer of the store. The operation succeeds
in every cell, because the store holds the object, or can store it at the next attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.config.options import PROVIDER, SKEW
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.lock.waiting import Waiting
from nbcc.engine.storage import open_storage
from nbcc.simulator.validate import validate

from .s3_server import Bucket, Fault, s3_server

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])
URL = "s3://lake/t"
NUMBERED: Final = {PROVIDER: "NumberedLockProvider"}
LOG: Final = {"nbcc.decision": "log"}
FAST: Final = {"timeout": "200ms"}
"""The time after which the client stops waiting; the server answers later."""


class Row(NamedTuple):
    """A kind of put: a pattern of its keys, the operation that sends it, and options of the table.

    `spared`: how many such puts of the operation are answered. `conditional`: the store may answer 412.
    """

    key: str
    operation: str = "upsert"
    options: dict[str, str] = {}
    spared: int = 0
    conditional: bool = True


ROWS: Final = {
    "requested": Row(r"deltacommit\.requested$"),
    "inflight": Row(r"deltacommit\.inflight$"),
    "completed": Row(r"\d+_\d+\.deltacommit$"),
    "completed, decided": Row(r"\d+_\d+\.deltacommit$", options=LOG),
    "decision": Row(r"/decisions/\d+$", options=LOG),
    "claim of a time": Row(r"/times/\d+$", options=LOG),
    "second claim": Row(r"/times/\d+$", options=LOG, spared=1),
    "batch": Row(r"/batches/"),
    "heartbeat": Row(r"/\.heartbeat/", conditional=False),
    "marker": Row(r"\.marker\.CREATE$"),
    "partition metadata": Row(r"\.hoodie_partition_metadata$"),
    "log file": Row(r"t/part=.*\.log\.1_[^/]*$", conditional=False),
    "lease": Row(r"table_lock\.json$"),
    "release of the lease": Row(r"table_lock\.json$", spared=1),
    "second lease": Row(r"table_lock\.json$", spared=2),
    "last release": Row(r"table_lock\.json$", spared=3),
    "numbered lock": Row(r"\.acquired$", options=NUMBERED),
    "release of a number": Row(r"\.released$", options=NUMBERED),
    "last release of a number": Row(r"\.released$", options=NUMBERED, spared=1),
    "plan": Row(r"compaction\.requested$", "compact"),
    "plan, decided": Row(r"compaction\.requested$", "compact", LOG),
    "inflight of a plan": Row(r"compaction\.inflight$", "compact"),
    "base file": Row(r"t/part=.*\.parquet$", "compact", conditional=False),
    "completed compaction": Row(r"\d+_\d+\.commit$", "compact"),
    "plan of a rollback": Row(r"rollback\.requested$", "rollback"),
    "completed rollback": Row(r"\d+_\d+\.rollback$", "rollback"),
    "plan of a clean": Row(r"clean\.requested$", "clean"),
    "completed clean": Row(r"\d+_\d+\.clean$", "clean"),
    "archive file": Row(r"history/.*\.parquet$", "archive"),
    "manifest of the archive": Row(r"history/manifest_\d+$", "archive"),
    "version of the archive": Row(r"history/_version_$", "archive", conditional=False),
    "properties": Row(r"hoodie\.properties$", "create"),
}
ANSWERS: Final[dict[str, Any]] = {
    "412 after success": "refuse", "409": "conflict", "503 SlowDown": "slow", "lost": "lose", "dropped": "drop",
    "time-out": "stall",
}  # fmt: skip


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with s3_server() as started:
        started.stall_seconds = 0.4
        yield started


def made(bucket: Bucket, options: dict[str, str]) -> Table:
    return Table.create(
        None, URL, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1,
        options={SKEW: "1", **options}, storage_options={**bucket.options, **FAST},
    )  # fmt: skip


def rows(ts: int) -> pa.Table:
    return pa.table({"id": ["k1", "k2", f"n{ts}"], "part": ["p", "q", "p"], "ts": [ts] * 3}, schema=SCHEMA)


def wanted(*times: int) -> set[tuple[str, int]]:
    return {("k1", max(times)), ("k2", max(times)), *((f"n{ts}", ts) for ts in times)}


def pending_write(table: Table) -> str:
    """Leave a write whose process was interrupted, and whose heartbeat expired; its requested time."""

    class Failing(InProcessJobs):
        def write(self, data: Any, task: Any) -> Any:
            super().write(data, task)
            raise KeyboardInterrupt

    jobs = Failing(table.context.storage, table.context.names)
    with suppress(KeyboardInterrupt):
        Table(replace(table.context, jobs=jobs), table.config).upsert(rows(9))
    (left,) = (instant for instant in table.timeline() if not instant.completed)
    table.context.heartbeats.stop(left.requested)
    return left.requested


def prepared(table: Table, operation: str) -> tuple[Callable[[], Any], set[tuple[str, int]]]:
    """The operation, on a table with what it needs, and the rows after it."""
    if operation == "upsert":
        return (lambda: table.upsert(rows(1), batch_id="b1")), wanted(1)
    table.upsert(rows(1))
    table.upsert(rows(2))
    if operation == "compact":
        return table.compact, wanted(1, 2)
    if operation == "rollback":
        failed = pending_write(table)
        return (lambda: table.rollback(failed)), wanted(1, 2)
    table.compact()
    table.upsert(rows(3))
    table.compact()
    if operation == "clean":
        return (lambda: table.clean(retained=1)), wanted(1, 2, 3)
    return (lambda: table.archive(retained=1)), wanted(1, 2, 3)


CELLS = [
    pytest.param(row, kind, id=f"{name}-{answer}")
    for name, row in ROWS.items()
    for answer, kind in ANSWERS.items()
    if row.conditional or kind != "refuse"  # no store answers 412 to an unconditional put
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("row", "kind"), CELLS)
def test_a_put_that_is_answered_wrongly_loses_nothing_and_does_nothing_twice(
    row: Row, kind: Any, bucket: Bucket
) -> None:
    fault = Fault(kind, row.key, spared=row.spared, pattern=True)
    if row.operation == "create":
        bucket.faults[:] = [fault]
        table = made(bucket, row.options)
        run, after = prepared(table, "upsert")
        run()
    else:
        table = made(bucket, row.options)
        run, after = prepared(table, row.operation)
        before = len(table.timeline())
        bucket.faults[:] = [fault]
        done = run()
        assert done, "it is acknowledged"
        added = 0 if row.operation == "archive" else 1
        assert len(table.timeline()) == (before + added if row.operation != "archive" else before - len(done))
    assert not fault.times, "the fault was met"
    check_end(table, bucket, after)


def check_end(table: Table, bucket: Bucket, after: set[tuple[str, int]]) -> None:
    """All rows once, no instant pending, the lock free for another process, and nothing left behind."""
    again = Table.open(None, URL, bucket.options)
    answer = again.snapshot().to_pylist()
    assert {(row["id"], row["ts"]) for row in answer} == after
    assert len(answer) == len(after)
    assert all(instant.completed for instant in again.timeline())
    assert not [key for key in bucket.objects if "/.temp/" in key or "/.heartbeat/" in key]
    lock = again.context.lock
    assert isinstance(lock, Waiting)
    assert lock.try_once(), "the lock is free at once"
    lock.give_back()
    report = validate(open_storage(URL, bucket.options))
    assert "BROKEN" not in {line.verdict for line in report.promises.values()}, report
    again.upsert(rows(7))
    assert len(again.snapshot()) == len(after) + 1
