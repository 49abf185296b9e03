"""The fault table: every kind of put x every failed answer. Nothing is lost, and nothing happens twice.

Each row names a kind of put and the operation that sends it; each column an answer of the store. The operation succeeds
in every cell, because the store holds the object, or can store it at the next attempt. What happens in a cell is what
the table in docs/locks.md says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.config.options import PROVIDER, SKEW
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.lock.waiting import Waiting
from nbcc.engine.storage import open_storage
from nbcc.simulator.audit import validate
from nbcc.simulator.lockstep.s3.faults import Fault
from nbcc.simulator.lockstep.s3.server import Bucket, s3_server
from tests.builders import by_day

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
    options: Mapping[str, str] = MappingProxyType({})
    spared: int = 0
    conditional: bool = True


ROWS: Final = {
    "requested": Row(r"deltacommit\.requested$"),
    "inflight": Row(r"deltacommit\.inflight$"),
    "completed": Row(r"\d+_\d+\.deltacommit$"),
    "decided completion": Row(r"\d+_\d+\.deltacommit$", options=LOG),
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
    "decided plan": Row(r"compaction\.requested$", "compact", LOG),
    "inflight of a plan": Row(r"compaction\.inflight$", "compact"),
    "base file": Row(r"t/part=.*\.parquet$", "compact", conditional=False),
    "completed compaction": Row(r"\d+_\d+\.commit$", "compact"),
    "plan of a rollback": Row(r"rollback\.requested$", "rollback"),
    "completed rollback": Row(r"\d+_\d+\.rollback$", "rollback"),
    "plan of a clean": Row(r"clean\.requested$", "clean"),
    "completed clean": Row(r"\d+_\d+\.clean$", "clean"),
    "archive file": Row(r"history/.*\.parquet$", "archive", conditional=False),
    "manifest of the archive": Row(r"history/manifest_\d+$", "archive", conditional=False),
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


def made(bucket: Bucket, options: Mapping[str, str]) -> Table:
    return Table.create(
        None, URL, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1,
        options={SKEW: "1", **options}, storage_options={**bucket.options, **FAST},
    )  # fmt: skip


def rows(ts: int) -> pa.Table:
    return pa.table({"id": ["k1", "k2", f"n{ts}"], "part": ["p", "q", "p"], "ts": [ts] * 3}, schema=SCHEMA)


def wanted(last: int) -> set[tuple[str, int]]:
    return {("k1", last), ("k2", last), *((f"n{ts}", ts) for ts in range(1, last + 1))}


def pending_write(table: Table) -> str:
    """Leave a write whose process was interrupted, and whose heartbeat expired; its requested time."""

    class Failing(InProcessJobs):
        def write(self, data: Any, task: Any) -> Any:
            super().write(data, task)
            raise KeyboardInterrupt

    jobs = Failing(table.context.storage, table.context.names)
    with suppress(KeyboardInterrupt):
        Table(replace(table.context, jobs=jobs), table.config).upsert(rows(99))
    (left,) = (instant for instant in table.timeline() if not instant.completed)
    table.context.heartbeats.stop(left.requested)
    return left.requested


def prepared(table: Table, operation: str, number: int) -> Callable[[], Any]:
    """The operation that sends the puts, on a table that has what it needs; the last batch is `rows(number)`."""
    if operation == "upsert":
        return lambda: table.upsert(rows(number), batch_id=f"b{number}")
    table.upsert(rows(number))
    if operation == "rollback":
        failed = pending_write(table)
        return lambda: table.rollback(failed)
    if operation == "compact":
        return table.compact
    table.compact()
    return lambda: table.run(operation, retained=1)


ADDED: Final[dict[str, Callable[[Any], int]]] = {"rollback": lambda done: 0, "archive": lambda done: -len(done)}
"""By how many instants an operation makes the active timeline longer, if not by one."""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", by_day.one_of(2, (name for name, row in ROWS.items() if row.operation != "create")))
def test_a_put_that_is_answered_wrongly_loses_nothing_and_does_nothing_twice(name: str, bucket: Bucket) -> None:
    row = ROWS[name]
    table = made(bucket, row.options)
    if row.operation in ("clean", "archive"):  # they leave the newest states and instants
        prepared(table, "compact", 1)()
    # No store answers 412 to an unconditional put.
    answers = {answer: kind for answer, kind in ANSWERS.items() if row.conditional or kind != "refuse"}
    for number, (answer, kind) in enumerate(answers.items(), start=1):
        # A lock of its own, because `check_end` took the lock since: its first put would be refused in truth.
        table = Table.open(None, URL, {**bucket.options, **FAST})
        run = prepared(table, row.operation, number)
        for key in [key for key in bucket.objects if key.endswith("partition_metadata")]:
            bucket.delete(key)
        before = len(table.timeline())
        fault = Fault(kind, row.key, spared=row.spared, pattern=True)
        bucket.faults[:] = [fault]
        bucket.requests.clear()
        done = run()
        assert done, f"{answer}: it is acknowledged"
        assert not fault.times, f"{answer}: the fault was met"
        assert happened(bucket) == documented()[name][answer], f"{answer}: docs/locks.md says otherwise"
        assert len(table.timeline()) == before + ADDED.get(row.operation, lambda done: 1)(done), answer
        check_end(table, bucket, number)
    report = validate(open_storage(URL, bucket.options))
    assert "BROKEN" not in {line.verdict for line in report.promises.values()}, report


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_table_is_created_once_with_every_answer(answer: str, bucket: Bucket) -> None:
    bucket.faults[:] = [fault := Fault(ANSWERS[answer], ROWS["properties"].key, pattern=True)]
    table = made(bucket, {})
    assert not fault.times, "the fault was met"
    assert happened(bucket) == documented()["properties"][answer], "docs/locks.md says otherwise"
    table.upsert(rows(1))
    check_end(table, bucket, 1)


def happened(bucket: Bucket) -> str:
    """What the client did after the put that met the fault: it stored the content again, or read its own object."""
    (number,) = (number for number, request in enumerate(bucket.requests) if request.fault)
    failed, later = bucket.requests[number], bucket.requests[number + 1 :]
    same = [request for request in later if request.key == failed.key]
    content = failed.stored.partition("-")[0]
    stored = {request.stored.partition("-")[0] for request in same if request.stored}
    if content in stored or (not content and stored):
        return "put again"
    return "recognised" if content and any(request.method == "GET" for request in same) else "unknown"


@cache
def documented() -> dict[str, dict[str, str]]:
    """Kind of put -> answer -> what happens, from the table in docs/locks.md."""
    lines = (Path(__file__).parents[2] / "docs" / "locks.md").read_text("utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("| put |"))
    table = takewhile(lambda line: line.startswith("|"), lines[begin:])
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    return {name: dict(zip(head[1:], cells, strict=True)) for names, *cells in body for name in names.split("; ")}


def test_the_documented_table_names_every_kind_of_put_and_every_answer() -> None:
    assert documented().keys() == ROWS.keys()
    assert all(list(answers) == list(ANSWERS) for answers in documented().values())


def check_end(table: Table, bucket: Bucket, last: int) -> None:
    """All rows once, no instant pending, the lock free for another process, and nothing left behind."""
    again = Table.open(None, URL, bucket.options)
    found = again.snapshot().to_pylist()
    assert {(row["id"], row["ts"]) for row in found} == wanted(last)
    assert len(found) == len(wanted(last))
    assert all(instant.completed for instant in again.timeline())
    assert not [key for key in bucket.objects if "/.temp/" in key or "/.heartbeat/" in key]
    lock = again.context.lock
    assert isinstance(lock, Waiting)
    assert lock.try_once(), "the lock is free at once"
    lock.give_back()
