"""A conditional put that succeeded and is answered as if it had not: by an object store, and in every operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pytest
from obstore.exceptions import GenericError

from nbcc import Table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import StorageError
from nbcc.engine.storage import NotFound, Storage, StorageWrapper, object_storage, open_storage, put_own
from nbcc.simulator.lockstep.s3.faults import Fault
from nbcc.simulator.lockstep.s3.server import Bucket

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


@dataclass
class Ghost(StorageWrapper):
    """A storage whose first conditional put of each path happens, and is answered by: it exists."""

    inner: Storage
    hidden: list[str] = field(default_factory=list)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        done = self.inner.put_if_absent(path, data)
        if done:
            self.hidden.append(path)
        return False


def rows(ts: int) -> pa.Table:
    return pa.table({"id": ["k"], "ts": [ts]}, SCHEMA)


@pytest.mark.parametrize("decision", ["lock", "log", "shared"])
def test_every_operation_recognises_its_own_puts(decision: str, tmp_path: Path) -> None:
    made = Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1,
        options={"nbcc.decision": decision},
    )  # fmt: skip
    ghost = Ghost(made.context.storage)
    context = replace(made.context, storage=ghost, jobs=InProcessJobs(ghost, made.context.names))
    table = Table(context, made.config)
    steps: list[Callable[[], Any]] = [
        *(lambda ts=ts: table.upsert(rows(ts), batch_id=f"b{ts}") for ts in range(3)),
        table.log_compact,
        table.compact,
        lambda: table.insert_overwrite(rows(4)),
        table.savepoint,
        lambda: table.upsert(rows(5)),
        table.restore,
        table.delete_savepoint,
        lambda: table.upsert(rows(6)),
        table.compact,
        lambda: table.clean(retained=1),
        lambda: table.archive(retained=1),
    ]
    for step in steps:
        assert step() is not None
    assert table.snapshot()["ts"].to_pylist() == [6]
    states = {path.rpartition(".")[2] for path in ghost.hidden if path.startswith(".hoodie/timeline/")}
    assert {"requested", "inflight", "deltacommit", "commit", "clean", "savepoint", "restore"} <= states


def test_an_object_of_another_writer_is_not_ours(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    assert put_own(storage, "x", b"ours")
    assert put_own(storage, "x", b"ours")
    assert not put_own(storage, "x", b"theirs")
    assert storage.get("x") == b"ours"


def test_an_object_that_is_gone_when_it_is_read_is_put_again(tmp_path: Path) -> None:
    class Vanishing(Ghost):
        left = 2

        def get(self, path: str) -> bytes:
            self.left -= 1
            if self.left >= 0:
                self.inner.delete(path)
            return super().get(path)

    storage = Vanishing(open_storage(tmp_path))
    assert put_own(storage, "x", b"1")
    assert storage.hidden == ["x"] * 3
    storage.left = 100
    assert not put_own(storage, "y", b"1")


@pytest.fixture
def store(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Storage:
    monkeypatch.setattr(object_storage, "PAUSES", (0, 0, 0))
    return open_storage("s3://lake/t", {**bucket.options, "retry_config": {"max_retries": 1}})


FAULTS = [
    [Fault("lose", "x")],  # done, not answered; the library's own second attempt finds it
    [Fault("lose", "x", times=2)],  # done, and never answered
    [Fault("drop", "x", times=2)],  # not done, and never answered
    [Fault("conflict", "x")],  # another conditional put was under way, and did not succeed
    [Fault("conflict", "x", times=2)],
    [Fault("drop", "x", times=2), Fault("conflict", "x")],
]


@pytest.mark.parametrize("data", [b"ours", b""])
@pytest.mark.parametrize("faults", FAULTS)
def test_a_put_that_was_answered_wrongly_is_repeated_or_recognised(
    store: Storage, bucket: Bucket, faults: list[Fault], data: bytes
) -> None:
    bucket.faults[:] = [replace(fault) for fault in faults]
    assert store.put_if_absent("x", data)
    assert store.get("x") == data
    assert not any(fault.times for fault in bucket.faults), "the faults were met"
    assert bucket.asked("PUT", "x") <= sum(fault.times for fault in faults) + 1


@pytest.mark.parametrize("faults", [[], *FAULTS[2:5]])
def test_an_object_of_another_writer_is_left(store: Storage, bucket: Bucket, faults: list[Fault]) -> None:
    assert store.put_if_absent("x", b"theirs")
    bucket.faults[:] = [replace(fault) for fault in faults]
    assert not store.put_if_absent("x", b"ours")
    assert store.get("x") == b"theirs"


def test_a_store_that_never_answers_is_a_typed_error(store: Storage, bucket: Bucket) -> None:
    bucket.faults[:] = [Fault("slow", "x", times=1_000)]
    with pytest.raises(StorageError, match=r"create 'x' in the table at s3://lake/t, but the store answered: .*503"):
        store.put_if_absent("x", b"ours")
    bucket.faults[:] = [Fault("conflict", "x", times=1_000)]
    with pytest.raises(StorageError, match="refuses to create it 3 times and holds no such object"):
        store.put_if_absent("x", b"ours")
    with pytest.raises(NotFound):
        store.get("x")


def test_a_refusal_is_not_repeated(store: Storage, bucket: Bucket) -> None:
    bucket.faults[:] = [Fault("forbid", "x", times=1_000)]
    with pytest.raises(StorageError, match=r"403 Forbidden: AccessDenied: check the credentials"):
        store.put_if_absent("x", b"ours")
    assert bucket.asked("PUT", "x") == 1


def test_a_time_out_on_a_put_that_was_done_is_success(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, put = open_storage("memory:///t"), obstore.put

    def timed_out(*given: Any, **named: Any) -> Any:
        put(*given, **named)
        raise GenericError("operation timed out")

    monkeypatch.setattr(obstore, "put", timed_out)
    assert storage.put_if_absent("x", b"ours")
