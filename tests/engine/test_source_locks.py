"""`df.write.format("nbcc")` under every lock, on a local folder and in an object store."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.config.options import PROVIDER, SKEW
from nbcc.engine.errors import Conflict, Unsupported
from nbcc.engine.lock import held
from nbcc.engine.table import Table
from nbcc.simulator.lockstep.s3.faults import Fault
from nbcc.simulator.lockstep.s3.server import Bucket
from tests.builders.data_source import CREATE, SCHEMA, load, plain, save
from tests.builders.tables import table_of

URL = "s3://lake/t"
TASKS = [table_of(SCHEMA, ("a", "p", 2, "x"), ("b", "q", 2, "y")), table_of(SCHEMA, ("c", "p", 2, "z"))]
ROWS = [("a", "p", 2, "x"), ("b", "q", 2, "y"), ("c", "p", 2, "z")]


def made(path: Any, storage_options: dict[str, Any] | None = None, /, **options: str) -> Table:
    return Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=2,
        options={SKEW: "1", **options}, storage_options=storage_options,
    )  # fmt: skip


def store(bucket: Bucket) -> dict[str, str]:
    """The options of the store as options of the data source."""
    return {f"storage.{name}": text for name, text in {**bucket.texts, "allow_http": "true"}.items()}


STORE_LOCKS = ["", "StorageBasedLockProvider", "NumberedLockProvider"]


@pytest.mark.parametrize("decision", ["lock", "log", "shared", "free"])
@pytest.mark.parametrize("provider", STORE_LOCKS)
def test_a_table_in_an_object_store_is_written_and_read_under_every_lock(
    provider: str, decision: str, bucket: Bucket
) -> None:
    table = made(URL, bucket.options, **({PROVIDER: provider} if provider else {}), **{"nbcc.decision": decision})
    table.upsert(table_of(SCHEMA, ("a", "p", 1, "old"), ("d", "q", 1, "own")))
    save(URL, TASKS, **store(bucket), **{"batch.id": "one"})
    save(URL, TASKS, **store(bucket), **{"batch.id": "one"})
    assert plain(load(URL, **store(bucket))) == [*ROWS, ("d", "q", 1, "own")]
    assert len([instant for instant in table.timeline() if instant.completed]) == 2, "the batch is written once"
    assert not [key for key in bucket.objects if "/.temp/" in key or "/.heartbeat/" in key]


@pytest.mark.parametrize("decision", ["shared", "free"])
def test_a_table_whose_commits_are_announced_is_written_and_overwritten(decision: str, tmp_path: Path) -> None:
    table = made(tmp_path / "t", **{"nbcc.decision": decision})
    for _ in range(2):
        save(tmp_path / "t", TASKS, **{"batch.id": "one"})
    assert len(table.timeline()) == 1, "the batch is written once"
    assert plain(load(tmp_path / "t")) == ROWS
    new = table_of(SCHEMA, ("n", "p", 3, "new"))
    save(tmp_path / "t", [new], **{"hoodie.datasource.write.operation": "insert_overwrite"})
    assert plain(load(tmp_path / "t")) == [("b", "q", 2, "y"), ("n", "p", 3, "new")]


@pytest.mark.parametrize("provider", ["FileSystemBasedLockProvider", *STORE_LOCKS])
def test_a_local_table_is_written_under_every_lock_between_processes(provider: str, tmp_path: Path) -> None:
    made(tmp_path / "t", **({PROVIDER: provider} if provider else {}))
    save(tmp_path / "t", TASKS)
    assert plain(load(tmp_path / "t")) == ROWS


def test_a_write_makes_a_table_in_an_object_store_under_its_default_lock(bucket: Bucket) -> None:
    save(URL, TASKS, **CREATE, **store(bucket))
    assert plain(load(URL, **store(bucket))) == ROWS
    assert bucket.asked("PUT", "table_lock.json") == 4, "two locks, each taken and released"
    assert not any(b"s3cr3t" in stored.data for stored in bucket.objects.values())


def test_a_write_waits_for_the_lock_of_another_writer(bucket: Bucket) -> None:
    table = made(URL, bucket.options, **{"hoodie.write.lock.wait_time_ms": "50"})
    # Locks of one process wait in its threads first, so the other writer is a lease in the store.
    other = Table.open(None, URL, bucket.options).context.lock
    assert other.try_once()  # type: ignore[attr-defined]  # the lease alone, as another process takes it
    with pytest.raises(Conflict, match=r"table_lock\.json is leased to"):
        save(URL, TASKS, **store(bucket))
    other.give_back()  # type: ignore[attr-defined]
    save(URL, TASKS, **store(bucket))
    assert len(table.snapshot()) == 3


@pytest.mark.parametrize("end", [".deltacommit", "table_lock.json", ".log.1001_"])
@pytest.mark.parametrize("kind", ["refuse", "lose", "conflict", "slow"])
def test_a_failed_answer_neither_loses_nor_repeats_a_write(kind: Any, end: str, bucket: Bucket) -> None:
    made(URL, bucket.options)
    bucket.faults[:] = [Fault(kind, end.replace(".", r"\."), pattern=True)]
    if kind == "refuse" and "log" in end:
        bucket.faults.clear()  # no store answers 412 to an unconditional put
    save(URL, TASKS, **store(bucket))
    assert not any(fault.times for fault in bucket.faults), "the fault was met"
    assert plain(load(URL, **store(bucket))) == ROWS


@pytest.mark.parametrize("mode", ["NON_BLOCKING_CONCURRENCY_CONTROL", "SINGLE_WRITER"])
def test_a_lock_among_threads_is_refused(mode: str, tmp_path: Path) -> None:
    Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", partition_by="part", ordering_fields="ts",
        concurrency_mode=mode, options={PROVIDER: "InProcessLockProvider"},
    )  # fmt: skip
    message = f"InProcessLockProvider excludes the threads of one: create the table with another {PROVIDER}"
    with pytest.raises(Unsupported, match=message):
        save(tmp_path / "t", TASKS)
    with pytest.raises(Unsupported, match=message):
        save(tmp_path / "t", TASKS)
    assert load(tmp_path / "t") == []


def test_a_table_and_a_data_source_write_at_the_same_time(bucket: Bucket) -> None:
    table = made(URL, bucket.options)
    bucket.latency_seconds = 0.002
    ours = threading.Thread(target=lambda: [table.upsert(table_of(SCHEMA, (f"t{n}", "p", n, "t"))) for n in range(4)])
    ours.start()
    for number in range(4):
        save(URL, [table_of(SCHEMA, (f"s{number}", "p", number, "s"))], **store(bucket))
    ours.join()
    with held(table.context.lock):
        assert {row["id"] for row in load(URL, **store(bucket))} == {f"{who}{n}" for who in "ts" for n in range(4)}
