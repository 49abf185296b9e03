"""Lock puts whose answer is wrong or lost: the object decides. Lock objects that are cut short free no live lock."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine.config.options import PROVIDER, SKEW
from nbcc.engine.errors import StorageError
from nbcc.engine.lock import held
from nbcc.engine.lock.numbered import NumberedLock
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.lock.waiting import Waiting
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from nbcc.simulator.lockstep.s3.faults import Fault
from nbcc.simulator.lockstep.s3.server import Bucket
from tests.builders.threads import within

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])
URL = "s3://lake/t"
NOW = 1_700_000_000_000
LEASE = "table_lock.json"


def lease(bucket: Bucket) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(bucket.objects[f"t/.hoodie/.locks/{LEASE}"].data)
    return content


PUTS = [
    ("StorageBasedLockProvider", LEASE, 4),
    ("NumberedLockProvider", ".acquired", 2),
    ("NumberedLockProvider", ".released", 2),
]
"""Lock puts of a write, which takes the lock twice, by the end of their keys."""


@pytest.mark.parametrize("kind", ["refuse", "lose", "conflict"])
@pytest.mark.parametrize(("provider", "end", "count"), PUTS)
def test_a_write_goes_on_under_a_lock_whose_answer_failed(
    kind: Any, provider: str, end: str, count: int, bucket: Bucket
) -> None:
    options = {PROVIDER: provider, SKEW: "1", "hoodie.write.lock.wait_time_ms": "1000"}
    table = Table.create(
        None, URL, SCHEMA, record_key="id", ordering_fields="ts", options=options, storage_options=bucket.options
    )
    for number in range(count):
        bucket.faults[:] = [Fault(kind, end, spared=number)]
        table.upsert(pa.table({"id": [f"k{number}"], "ts": [number]}, schema=SCHEMA))
        assert not bucket.faults[0].times, "the fault was met"
    bucket.faults.clear()
    table.upsert(pa.table({"id": ["last"], "ts": [0]}, schema=SCHEMA))
    assert table.snapshot().num_rows == count + 1


@pytest.mark.parametrize("kind", ["refuse", "lose", "conflict"])
def test_a_lease_is_released_although_the_answer_failed(kind: Any, bucket: Bucket) -> None:
    one, other = (StorageLock(open_storage(URL, bucket.options), 0.0) for _ in range(2))
    one.acquire()
    bucket.faults[:] = [Fault(kind, LEASE)]
    one.release()
    assert lease(bucket)["expired"] is True
    with held(other):
        pass


def lasts_past(bucket: Bucket, until: int) -> bool:
    return bool(lease(bucket)["validUntil"] > until)


@pytest.mark.parametrize("kind", ["refuse", "lose", "conflict"])
def test_a_renewal_goes_on_after_a_failed_answer(kind: Any, bucket: Bucket) -> None:
    lock = StorageLock(open_storage(URL, bucket.options), 0.0, 60, 0.01)
    with held(lock):
        for _ in range(3):
            bucket.faults[:] = [Fault(kind, LEASE)]
            assert within(10, lambda: not bucket.faults[0].times)
            since = lease(bucket)["validUntil"]
            assert within(10, partial(lasts_past, bucket, since + 20)), "it is renewed again"


def test_a_renewal_ends_where_another_has_the_lock(bucket: Bucket) -> None:
    lock = StorageLock(open_storage(URL, bucket.options), 0.0)
    lock.acquire()
    assert lock.renew()
    bucket.put(f"t/.hoodie/.locks/{LEASE}", json.dumps({**lease(bucket), "owner": "another"}).encode())
    assert not lock.renew()
    lock.release()
    assert lease(bucket)["owner"] == "another"
    assert lease(bucket)["expired"] is False


@pytest.mark.parametrize("kind", ["storage", "numbered"])
def test_an_attempt_that_ended_in_an_error_does_not_shut_its_own_process_out(kind: str, bucket: Bucket) -> None:
    """The put was carried out, and neither it nor the object's content was answered."""
    storage = Flaky(open_storage(URL, bucket.options))
    lock = StorageLock(storage, 0.0) if kind == "storage" else NumberedLock(storage, 0.0)
    storage.breaks = True
    with pytest.raises(OSError, match="no answer"):
        lock.acquire()
    storage.breaks = False
    with held(lock):
        assert not _other(kind, bucket).try_once()
    with held(_other(kind, bucket)):
        pass


@pytest.mark.parametrize(("kind", "end"), [("storage", LEASE), ("numbered", ".released")])
def test_a_lock_that_was_not_released_is_free_for_its_own_process(kind: str, end: str, bucket: Bucket) -> None:
    """The store refuses the release, and then an attempt to take the lock again."""
    lock = _other(kind, bucket)
    lock.acquire()
    bucket.faults[:] = [Fault("fail", end, times=1_000)]
    with pytest.warns(UserWarning, match="was not released .* others can take it in 300 s"):
        lock.release()
    with pytest.raises(StorageError):
        lock.acquire()
    bucket.faults.clear()
    assert not _other(kind, bucket).try_once()
    with held(lock):
        assert not lock.try_once(), "while it is held"


def _other(kind: str, bucket: Bucket) -> Waiting:
    storage = open_storage(URL, bucket.options)
    return StorageLock(storage, 0.0) if kind == "storage" else NumberedLock(storage, 0.0)


class Flaky:
    """A storage that carries a put out, and after that answers nothing while it `breaks`."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.breaks, self._put = inner, False, False
        self.url = inner.url

    def _broken(self, done: Any, put: bool = False) -> Any:
        self._put = self.breaks and (self._put or put)
        if self._put:
            raise OSError("no answer")
        return done

    def create_or_get(self, path: str, data: bytes) -> Any:
        return self._broken(self._inner.create_or_get(path, data), put=True)

    def get(self, path: str) -> Any:
        return self._broken(self._inner.get(path))

    def conditional_object(self, path: str) -> Any:
        return FlakyObject(self, self._inner.conditional_object(path))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class FlakyObject:
    """The same of one object."""

    def __init__(self, storage: Flaky, inner: Any) -> None:
        self._storage, self._inner = storage, inner

    def read(self) -> Any:
        return self._storage._broken(self._inner.read())

    def write(self, data: bytes, known: Any) -> Any:
        return self._storage._broken(self._inner.write(data, known), put=True)


TORN = [b"", b'{"expired": fal', b"[]", b'{"expired": false, "validUntil": "soon", "owner": "x"}', b"\xff\xfe"]


@pytest.mark.parametrize("content", TORN)
def test_a_lease_that_cannot_be_read_counts_as_held_for_as_long_as_a_lease(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / ".hoodie/.locks" / LEASE
    _put(path, content)
    now = [NOW + 60_500]
    lock = StorageLock(open_storage(tmp_path), 0.0, 60, now=lambda: now[0])
    assert not lock.try_once()
    assert "holds no lease that can be read" in lock.held_by()
    now[0] += 1
    assert lock.try_once()
    lock.give_back()


@pytest.mark.parametrize("content", TORN[:3])
@pytest.mark.parametrize("kind", ["acquired", "heartbeat"])
def test_a_numbered_lock_that_cannot_be_read_counts_as_held_for_as_long(
    kind: str, content: bytes, tmp_path: Path
) -> None:
    folder = tmp_path / ".hoodie/.nbcc/locks"
    _put(folder / f"{7:020d}.acquired", json.dumps({"owner": "x", "since": NOW - 600_000}).encode())
    _put(folder / f"{7:020d}.{kind}", content)
    now = [NOW + 60_500]
    lock = NumberedLock(open_storage(tmp_path), 0.0, 60, now=lambda: now[0])
    assert not lock.try_once()
    now[0] += 1
    assert lock.try_once()
    assert lock.token == 8
    lock.give_back()


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, ns=(NOW * 10**6, NOW * 10**6))
