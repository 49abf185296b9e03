"""The requests that an object store receives: conditions, parts, ranges, repetitions, and time limits under a lease."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from nbcc.engine.config.options import PROVIDER, SKEW
from nbcc.engine.errors import Conflict, StorageError
from nbcc.engine.lock import held
from nbcc.engine.lock.in_process import InProcessLock
from nbcc.engine.lock.numbered import NumberedLock
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.storage import ObjectStorage, open_storage, put_own, under_lease
from nbcc.engine.storage.object_storage import PART_BYTES
from nbcc.engine.storage.requests import LIMITS
from nbcc.engine.table import Table
from nbcc.engine.timeline.cuts import CUTS, is_cut, put_cut
from nbcc.engine.timeline.decisions import LogEntry, rival_of
from nbcc.engine.writes import decision_log
from nbcc.simulator.lockstep.s3.faults import Fault, Meeting
from nbcc.simulator.lockstep.s3.server import Bucket
from tests.builders.meanwhile import before_next

from .free_tables import SCHEMA, rows

URL = "s3://lake/t"


@pytest.fixture
def storage(bucket: Bucket) -> ObjectStorage:
    opened = open_storage(URL, bucket.options)
    assert isinstance(opened, ObjectStorage)
    return opened


def made(bucket: Bucket, buckets: int = 4, /, **options: str) -> Table:
    return Table.create(
        None, URL, SCHEMA, record_key="id", ordering_fields="ts", options={SKEW: "1", **options}, buckets=buckets,
        storage_options=bucket.options,
    )  # fmt: skip


@pytest.mark.parametrize("decision", ["lock", "log"])
def test_control_objects_alone_are_put_conditionally_and_are_small(decision: str, bucket: Bucket) -> None:
    table = made(bucket, **{"nbcc.decision": decision})
    table.upsert(rows("a", "b", "c"))
    table.compact()
    puts = [request for request in bucket.requests if request.method == "PUT"]
    data = [request for request in puts if "/.hoodie/" not in request.key]
    assert len(data) >= 4
    assert not any(request.is_conditional for request in data)
    conditional = {request.key for request in puts if request.is_conditional}
    assert all("/.hoodie/" in key for key in conditional)
    assert max(len(bucket.objects[key].data) for key in conditional if key in bucket.objects) < 5_000
    free = {key.split("/")[2] for key in {request.key for request in puts} - conditional if "/.hoodie/" in key}
    assert free == {".heartbeat"}, "the other control objects are conditional"


def test_a_large_data_file_goes_up_in_parts_and_comes_back_in_ranges(storage: ObjectStorage, bucket: Bucket) -> None:
    data = bytes(range(256)) * (2 * PART_BYTES // 256 + 1)
    assert storage.put_in_parts("p/large", data)
    assert bucket.objects["t/p/large"].data == data
    assert [request.is_part for request in bucket.requests if request.method == "PUT"] == [True] * 3
    bucket.requests.clear()
    assert storage.get("p/large") == data
    assert [request.is_part for request in bucket.requests].count(True) == 3
    bucket.requests.clear()
    assert storage.put_in_parts("p/small", b"small")
    assert storage.get("p/small") == b"small"
    assert len(bucket.requests) == 2


def test_a_put_that_finds_another_object_reads_it_once(storage: ObjectStorage, bucket: Bucket) -> None:
    entry = LogEntry(1, (), "20260101000000001")
    assert rival_of(storage, entry) is None
    late = entry._replace(planned=1)
    storage.put("x", b"1")
    bucket.requests.clear()
    assert rival_of(storage, late) == entry
    assert not put_own(storage, "x", b"2")
    assert [request.method for request in bucket.requests] == ["PUT", "GET"] * 2


@pytest.mark.parametrize("kind", ["slow", "conflict", "drop"])
@pytest.mark.parametrize("method", ["PUT", "GET", "LIST", "DELETE"])
def test_a_request_that_the_store_cannot_answer_now_is_repeated(
    method: str, kind: Any, storage: ObjectStorage, bucket: Bucket
) -> None:
    storage.put("x", b"1")
    bucket.faults[:] = [Fault(kind, "", method, times=2)]
    storage.put("x", b"2")
    assert storage.put_in_parts("y", b"3")
    assert storage.put_if_absent("z", b"4")
    assert [storage.get(name) for name in "xyz"] == [b"2", b"3", b"4"]
    assert [entry.path for entry in storage.list("")] == ["x", "y", "z"]
    storage.delete("x")
    storage.delete_all(["y", "z"])
    assert storage.list("") == []
    assert not bucket.faults[0].times, "the fault was met"


def test_a_store_that_conflicts_permanently_is_a_typed_error(storage: ObjectStorage, bucket: Bucket) -> None:
    bucket.faults[:] = [Fault("conflict", "", times=1_000)]
    with pytest.raises(StorageError, match=r"write 'x' in the table at s3://lake/t, but the store answered"):
        storage.put("x", b"1")


def test_a_request_under_a_lease_ends_before_the_lease(storage: ObjectStorage, bucket: Bucket) -> None:
    bucket.stall_seconds = 3.0
    for left, limit in ((1.9, 1.0), (0.8, 0.5)):
        bucket.faults[:] = [Fault("stall", "", method, times=1_000) for method in ("PUT", "GET")]
        with under_lease(partial(float, left)):
            began = time.monotonic()
            with pytest.raises(StorageError):
                storage.conditional_object("x").read()
            assert time.monotonic() - began < limit + 0.3, "a generous margin for a slow machine"


@pytest.mark.parametrize("left", [0.0, -5.0, LIMITS[-1]])
def test_no_request_begins_under_a_lease_that_is_nearly_over(
    left: float, storage: ObjectStorage, bucket: Bucket
) -> None:
    with under_lease(lambda: left), pytest.raises(Conflict, match="are left of its lease"):
        storage.put_if_absent("x", b"1")
    assert bucket.requests == []
    assert storage.put_if_absent("x", b"1"), "not under a lease"


@pytest.mark.parametrize("kind", [StorageLock, NumberedLock])
def test_a_lock_that_expires_reports_the_time_left(kind: Any, storage: ObjectStorage, bucket: Bucket) -> None:
    now = [1_700_000_000_000]
    lock = kind(storage, 0.0, 60, 1_000, now=lambda: now[0])
    assert lock.left() == 0
    with held(lock):
        assert lock.left() == 60
        now[0] += 59_000
        assert len(storage.list("")) == 1
        assert lock.left() == 1
        now[0] += 900
        with pytest.raises(Conflict, match=r"0\.10 s are left of its lease"):
            storage.put_if_absent("x", b"1")
    assert lock.left() == 0


def test_a_holder_that_was_replaced_has_no_time_left(storage: ObjectStorage) -> None:
    now = [1_700_000_000_000]
    one, other = (StorageLock(storage, 0.0, 60, 1_000, now=lambda: now[0]) for _ in range(2))
    assert one.try_once()
    now[0] += 60_501
    assert other.try_once()
    assert not one.renew()
    assert one.left() == 0
    one.give_back()
    assert other.left() == 60, "a release does not free the lock of another"
    assert other.renew()
    other.give_back()


@pytest.mark.parametrize("provider", ["StorageBasedLockProvider", "NumberedLockProvider"])
def test_a_write_whose_lease_expired_is_not_published(
    provider: str, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder stalls under the lock, its renewals too, as a suspended machine does."""
    table = made(bucket, **{PROVIDER: provider})
    before = table.upsert(rows("a"))
    lock = table.context.lock
    monkeypatch.setattr(lock, "left", lambda: 0.2)
    with pytest.raises(Conflict, match="are left of its lease"):
        table.upsert(rows("b"))
    monkeypatch.undo()
    assert [instant.completed for instant in table.timeline() if instant.completed] == [before.completed]
    table.upsert(rows("c"))
    assert set(table.snapshot()["id"].to_pylist()) == {"a", "c"}


def meetings(decision: str, refused: int) -> list[Meeting]:
    """The requests of a commit of two files that are under way at the same time.

    `refused`: how often the lock is asked for in vain, by the version that this process released.
    """
    listings = [Meeting("LIST", r"/timeline/$|/\.temp/", 2, spared=1)]
    if decision == "log":
        last = Meeting("GET|LIST", r"/decisions/\d+$|/timeline/$", 2, spared=1)
        listings = [Meeting("LIST", r"/\.temp/|/decisions/$", 2), last]
    return [
        Meeting("PUT", r"/\.heartbeat/|\.deltacommit\.requested$", 2),
        Meeting("PUT", r"/table_lock\.json$|\.deltacommit\.inflight$", 2, spared=1 + refused),
        Meeting("PUT", r"\.marker\.CREATE$", 2),
        Meeting("PUT", r"/\.[0-9-]+_\d+\.log\.1_[0-9-]+$", 2),
        *listings,
    ]


def sequence(table: Table, bucket: Bucket, decision: str, refused: int = 0) -> int:
    """The number of requests in sequence of a commit of two files, until its lock is released."""
    bucket.meetings[:] = together = meetings(decision, refused)
    bucket.requests.clear()
    table.upsert(rows(*"abcdefgh"))
    bucket.meetings.clear()
    assert not any(meeting.is_missed for meeting in together)
    keys = [(request.method, request.key) for request in bucket.requests]
    completed = next(place for place, (_, key) in enumerate(keys) if re.search(r"\d+_\d+\.deltacommit$", key))
    released = keys.index(("PUT", "t/.hoodie/.locks/table_lock.json"), completed)
    return released + 1 - sum(meeting.size - 1 for meeting in together)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("decision", "most"), [("lock", 12), ("log", 17)])
def test_a_commit_sends_few_requests_in_a_history_of_any_length(decision: str, most: int, bucket: Bucket) -> None:
    archive = {"hoodie.archive.automatic": "true", "hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "6"}
    table = made(bucket, 2, **{"nbcc.decision": decision}, **archive)
    counts = []
    for number in range(25):
        if number % 3 == 0:
            table.compact()
        if number in (4, 24):
            counts.append(sequence(table, bucket, decision))
            other = Table.open(None, URL, bucket.options)
            other.upsert(rows("other"))
            counts.append(sequence(table, bucket, decision, refused=1))
        else:
            table.upsert(rows(*"abcdefgh"))
    assert table.context.storage.list(".hoodie/timeline/history"), "instants are archived"
    assert len(table.context.storage.list(".hoodie/timeline")) < 100, "one page of a listing"
    assert counts[:2] == counts[2:], "in a short and in a long history"
    assert max(counts) <= most, "alone, and after another writer"


def test_an_archiver_cuts_the_decision_log_behind_a_checkpoint(bucket: Bucket) -> None:
    table = made(bucket, **{"nbcc.decision": "log"})
    for _ in range(6):
        table.upsert(rows("a"))
    table.compact()
    table.archive(retained=1)
    last = 8  # six commits, a plan and its completion
    assert [key for key in bucket.objects if "/cuts/" in key] == [f"t/.hoodie/.nbcc/cuts/{last - 1:020d}"]
    again = Table.open(None, URL, bucket.options)
    bucket.page, bucket.requests[:] = 2, []
    again.upsert(rows("b"))
    pages = [request for request in bucket.requests if request.method == "LIST" and "/decisions/" in request.key]
    assert len(pages) <= 2, "the whole log has four pages"
    _age(bucket, "/decisions/", 4_000)
    table.upsert(rows("c"))
    table.archive(retained=1)
    left = sorted(int(key[-20:]) for key in bucket.objects if "/decisions/" in key)
    assert left == [9, 10], "the checkpoint and the newest entry"


def _cut(bucket: Bucket, table: Table) -> None:
    """Let the table go on, and its archiver delete all entries but the last ones, as after an hour."""
    for _ in range(3):
        table.upsert(rows("a"))
    table.compact()
    _age(bucket, "/decisions/", 4_000)
    table.upsert(rows("b"))
    table.archive(retained=1)


@pytest.mark.parametrize("paused", ["put_decision", "is_cut"], ids=["before it decides", "after it has decided"])
def test_a_frozen_writer_neither_takes_a_deleted_number_nor_undoes_what_it_decided(
    paused: str, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is frozen, its clock included, and its lease is lost: no reading of its clock shows the pause."""
    table = made(bucket, 1, **{"nbcc.decision": "log"})
    table.upsert(rows("a"))
    frozen = Table.open(None, URL, bucket.options)
    frozen = Table(replace(frozen.context, lock=InProcessLock("lost", 1.0)), frozen.config)
    now = time.time()

    def pauses() -> None:
        _cut(bucket, table)
        monkeypatch.setattr(time, "time", lambda: now)

    before_next(monkeypatch, decision_log, paused, pauses)
    frozen.upsert(rows("frozen"))
    monkeypatch.undo()
    table.upsert(rows("c"))
    assert set(Table.open(None, URL, bucket.options).snapshot()["id"].to_pylist()) == {"a", "b", "c", "frozen"}


def test_a_stalled_archiver_does_not_take_a_newer_cut_back(bucket: Bucket) -> None:
    storage = made(bucket, **{"nbcc.decision": "log"}).context.storage
    for number in (3, 9, 5, 12):
        put_cut(storage, number)
    assert [number for number in (11, 12, 13) if is_cut(storage, number)] == [11, 12]
    assert len(storage.list(CUTS)) == 2


def _age(bucket: Bucket, part: str, seconds: float) -> None:
    """Make the objects with this part in their keys older."""
    for key, stored in bucket.objects.items():
        if part in key:
            bucket.objects[key] = stored._replace(modified=stored.modified - seconds)
