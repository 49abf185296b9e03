"""The decision log of a table, and what a commit costs under the lock: as much in a long history as in a short one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.actions import operations, schedule_clean, schedule_rollback
from nbcc.engine.config import to_properties
from nbcc.engine.config.concurrency import OPTIMISTIC
from nbcc.engine.config.options import DECISION, SKEW
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import BadInput, Conflict, LockTimeout, Unsupported
from nbcc.engine.rules import Rules
from nbcc.engine.storage import Entry
from nbcc.engine.storage.object_storage import ObjectStorage
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.decisions import FOLDER, Decision, last_entry, put_decision
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from nbcc.engine.timeline.timeline import FOLDER as TIMELINE
from nbcc.engine.writes.commit_protocol import request
from nbcc.engine.writes.decision_log import catch_up, decide
from nbcc.model import World
from nbcc.simulator.lockstep.control.calls import kind_of
from nbcc.simulator.lockstep.control.footprints import Access
from nbcc.simulator.lockstep.control.harness import Handle, Harness
from nbcc.simulator.lockstep.s3.server import Bucket
from nbcc.simulator.lockstep.systems.rows import table_config
from tests.builders.meanwhile import before_next

from .free_tables import SCHEMA, NoLock, eager, rows


def made(path: Path, **options: str) -> Table:
    return Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=2, options=options)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return made(tmp_path / "t", **{DECISION: "log"})


def test_every_commit_and_every_plan_has_a_number(table: Table, tmp_path: Path) -> None:
    first, second = table.upsert(rows("a")), table.upsert(rows("b"))
    done = table.compact()
    assert done is not None
    assert sorted(path.name for path in (tmp_path / "t" / FOLDER).iterdir()) == [f"{n:020d}" for n in range(1, 5)]
    last = last_entry(table.context.storage)
    assert last is not None
    assert (last.number, [item.instant for item in last.items]) == (4, [done])
    assert (first.completed or "") < (second.completed or "") < done.requested < (done.completed or "")
    assert [row["id"] for row in table.snapshot().to_pylist()] == ["a", "b"] or len(table.snapshot()) == 2


def test_what_the_dead_decided_is_published_by_the_next(table: Table) -> None:
    """Readers see nothing of a commit that is only decided, and all of it once any actor has decided more."""
    storage = table.context.storage
    gone = table.upsert(rows("a"))
    storage.delete(f".hoodie/timeline/{gone.file_name}")  # as if its writer had died between deciding and publishing
    assert len(table.snapshot()) == 0
    table.upsert(rows("b"))
    assert {row["id"] for row in table.snapshot().to_pylist()} == {"a", "b"}


def test_a_number_is_taken_once_and_the_time_grows(table: Table) -> None:
    storage = table.context.storage
    table.upsert(rows("a"))
    last = catch_up(table.context)
    other = Decision(last.number + 1, "time", "", "", "20990101000000000")
    assert decide(table.context, other)
    assert put_decision(storage, other), "the same entry again: its answer was lost"
    assert not put_decision(storage, other._replace(time="20990101000000001"))


def test_a_settled_time_takes_a_number(table: Table) -> None:
    table.upsert(rows("a"))
    before = last_entry(table.context.storage)
    now = table.context.clock.take()
    assert len(table.as_of(now)) == 1
    after = last_entry(table.context.storage)
    assert before is not None
    assert after is not None
    assert (after.number, after.items[0].kind) == (before.number + 1, "time")
    assert after.time >= now


def failed(table: Table) -> Table:
    """The same table, in which a write has begun whose writer is gone."""
    request(table.context, "deltacommit")
    assert table.context.own_heartbeats is None
    return eager(table)


def test_the_plan_of_a_rollback_takes_a_number_and_its_completion_another(table: Table) -> None:
    table.upsert(rows("a"))
    undone = failed(table).rollback()
    last = last_entry(table.context.storage)
    assert last is not None
    assert (last.number, last.items[0].kind, last.items[0].instant) == (3, "commit", undone[0])


def plan_of_clean(table: Table) -> Instant | None:
    for _ in range(3):
        table.compact()
        table.upsert(rows("a"))
    return schedule_clean.run(table.context, table.config, retained=1)


@pytest.mark.parametrize(
    "plan", [plan_of_clean, lambda table: table.schedule_log_compaction()], ids=["clean", "log compaction"]
)
def test_the_plan_of_a_service_takes_a_number(table: Table, plan: Callable[[Table], Instant | None]) -> None:
    for key in "aaa":
        table.upsert(rows(key))
    planned, last = plan(table), last_entry(table.context.storage)
    assert planned is not None
    assert last is not None
    assert [(item.kind, item.instant) for item in last.items] == [("plan", planned)]


def test_a_rollback_that_finds_its_number_taken_looks_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the writer, whose lock was lost, had committed in between: there is nothing to roll back any more."""
    other = failed(table)
    target = table.timeline()[0].requested

    def commits(*given: object) -> bytes:
        last, now = catch_up(table.context), table.context.clock.take()
        assert decide(table.context, Decision(last.number + 1, "commit", target, "deltacommit", now, b"{}"))
        return b""

    monkeypatch.setattr(schedule_rollback, "encode_rollback_plan", commits)
    assert other.schedule_rollback() is None
    assert [(instant.action, instant.state) for instant in other.timeline()] == [("deltacommit", "completed")]
    assert other.rollback() == ()


def test_what_the_dead_decided_is_not_rolled_back(table: Table) -> None:
    storage = table.context.storage
    gone = table.upsert(rows("a"))
    storage.delete(f".hoodie/timeline/{gone.file_name}")
    assert failed(table).rollback() != (), "the other write that was begun"
    assert gone in table.timeline()


def test_it_is_a_property_of_the_table_that_writers_must_know(table: Table, tmp_path: Path) -> None:
    properties = tmp_path / "t" / PROPERTIES
    text = properties.read_text()
    assert f"{DECISION}=log" in text
    assert "nbcc.writer.features=decision-log,fixed-buckets,kept-tombstones" in text
    properties.write_text(text.replace("=decision-log,", "=decision-log-2,"))
    with pytest.raises(Unsupported, match="its writers must know the features decision-log-2"):
        Table.open(None, tmp_path / "t").upsert(rows("a"))
    with pytest.raises(BadInput, match="use lock, log, shared or free"):
        made(tmp_path / "u", **{DECISION: "quorum"})


def test_an_entry_of_another_format_is_refused(table: Table) -> None:
    table.context.storage.put(f"{FOLDER}/{1:020d}", b'{"format": 3}\n')
    with pytest.raises(Unsupported, match="read the decision 1, but it has format 3"):
        table.upsert(rows("a"))


def test_a_conflict_check_sees_all_that_was_decided_before_its_entry(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An optimistic writer that has lost the lock lists the log when another writer has committed and a reader has
    settled a time. All that the writer has listed before misses that commit, although the last entry has no instant.
    """
    writer = Table.create(
        None, "s3://lake/t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1, concurrency_mode=OPTIMISTIC,
        options={DECISION: "log", SKEW: "1"}, storage_options=bucket.options,
    )  # fmt: skip
    other = Table.open(None, "s3://lake/t", bucket.options)
    writer = Table(replace(writer.context, lock=NoLock()), writer.config)
    listing, timeline_listed = ObjectStorage.list, threading.Event()

    def late(storage: ObjectStorage, prefix: str, after: str = "") -> list[Entry]:
        ahead = threading.current_thread().name.startswith("nbcc-listing")
        if prefix == FOLDER and ahead:
            monkeypatch.setattr(ObjectStorage, "list", listing)
            timeline_listed.wait(0.5)
            other.upsert(rows("a"))
            other.as_of(other.context.clock.take())
        entries = listing(storage, prefix, after)
        if prefix == TIMELINE and ahead:
            timeline_listed.set()
        return entries

    monkeypatch.setattr(ObjectStorage, "list", late)
    with pytest.raises(Conflict, match="has written bucket 0"):
        writer.upsert(rows("a"))


# What happens under the lock, counted.


def under_lock(decision: str, before: int, keys: int) -> list[str]:
    """The storage calls of one upsert while it holds the lock to publish, after so many others of so many keys."""
    harness, config = Harness(), table_config(World())
    harness.storage.put_if_absent(PROPERTIES, encode_properties(to_properties(config)))
    rules, run = Rules.from_mapping({"decision": decision}), operations()["upsert"].run

    def upsert(handle: Handle) -> object:
        jobs = InProcessJobs(handle.storage, handle.names)
        context = Context(handle.storage, handle.lock, handle.clock, handle.names, jobs, rules)
        names = [f"k{number}" for number in range(keys)]
        data = {"id": names, "ts": [1] * keys, "val": names}
        given = pa.table({f.name: pa.array(data.get(f.name, [None] * keys), f.type) for f in config.schema})
        return run(context, config, data=given)

    for number in range(before + 1):
        harness.accesses.clear()
        task = harness.start(f"w{number + 1}", upsert).task
        task.run("return")
        assert task.error is None, task.error
    held = [access for access in harness.accesses if access.locked and not access.verb.startswith("lock")]
    return [_described(access) for access in held if access.verb != "list.begin"]


def _described(access: Access) -> str:
    return f"{access.verb} {kind_of(access.path)}" if access.path else access.verb


@pytest.mark.parametrize("decision", ["lock", "log"])
def test_free_what_is_done_under_the_lock_does_not_grow(decision: str) -> None:
    """FREE: constant, one listing of the timeline, for every size of the data and length of the history."""
    few = under_lock(decision, before=1, keys=1)
    assert under_lock(decision, before=12, keys=1) == few
    assert under_lock(decision, before=3, keys=300) == few
    assert few.count("list.end timeline") == 2, "one when the instant is requested, one when it is published"


def test_free_the_price_of_the_log() -> None:
    """Two gets, two listings and three puts more than by the lock alone."""
    alone, logged = (under_lock(decision, before=2, keys=1) for decision in ("lock", "log"))
    requested = ["list.end timeline", "clock.take", "put file", "put deltacommit.requested"]  # the file: its heartbeat
    assert alone == [*requested, "list.end timeline", "list.end marker", "clock.take", "put deltacommit"]
    assert logged == [
        *requested[:2], "put claim", *requested[2:],
        "list.end decision", "get decision", "get deltacommit",
        "list.end timeline", "list.end marker", "clock.take", "put claim", "put decision", "list.end cut",
        "put deltacommit",
    ]  # fmt: skip


# A lock that is not to be had in time.


def test_who_does_not_get_the_lock_leaves_a_write_that_can_be_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"hoodie.write.lock.provider": "InProcessLockProvider", "hoodie.write.lock.wait_time_ms": "1"}
    table = made(tmp_path / "t", **options)
    heartbeats = StoredHeartbeats(table.context.storage, interval=0.01, misses=1)
    slow = Table(replace(table.context, own_heartbeats=heartbeats), table.config)
    before_next(monkeypatch, InProcessJobs, "write", table.context.lock.acquire)
    with pytest.raises(LockTimeout, match="another thread has held its lock"):
        slow.upsert(rows("a"))
    table.context.lock.release()

    [pending] = table.timeline()
    assert pending.state == "inflight"
    assert len(table.snapshot()) == 0
    time.sleep(0.05)  # it beats no more
    [undone] = slow.rollback()
    assert undone.action == "rollback"
    assert not list((tmp_path / "t").glob(".0*.log.*"))
    assert table.upsert(rows("a")).completed


def test_what_was_decided_last_stays_on_the_active_timeline(table: Table) -> None:
    """Here a rollback, which is older than the writes that were decided before it: it would come back otherwise."""
    table.upsert(rows("a"))
    other = failed(table)
    plan = other.schedule_rollback()
    table.upsert(rows("b"))
    table.compact()
    newest = table.upsert(rows("c"))
    last = other.run_rollback(plan)
    table.archive(1)
    left = table.timeline()
    assert set(left) == {last, newest}
    table.upsert(rows("d"))
    table.compact()
    assert last in table.archive(1)
    table.upsert(rows("e"))
    assert last not in table.timeline()
