"""Announced instants: their writers commit together, and another writer commits the instants of the dead."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine.config.options import DECISION, SKEW
from nbcc.engine.errors import Conflict, Damaged, LockTimeout
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.announcements import (
    Announced,
    Announcement,
    announced_instants,
    forget_announcements,
    put_announcement,
)
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from nbcc.engine.timeline.decisions import Decision, LogEntry, carry_out, put_entry
from nbcc.engine.writes import announced, deciding
from nbcc.engine.writes.deciding import decide_announced
from nbcc.simulator.lockstep.s3.server import Bucket

SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])
NOW = "20260101000000001"


def rows(*keys: str) -> pa.Table:
    return pa.table({"id": list(keys), "ts": pa.array(range(len(keys)), pa.int64())}, schema=SCHEMA)


def made(path: Path, mode: str = "NON_BLOCKING_CONCURRENCY_CONTROL", **options: str) -> Table:
    return Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=1, concurrency_mode=mode,
        options={DECISION: "shared", **options},
    )  # fmt: skip


@pytest.fixture(params=["shared", "free"])
def decision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(tmp_path: Path, decision: str) -> Table:
    return made(tmp_path / "t", **{DECISION: decision})


def keys(table: Table) -> list[str]:
    return sorted(table.snapshot()["id"].to_pylist())


def entries(table: Table) -> Iterator[LogEntry]:
    from nbcc.engine.timeline.decisions import _decode

    for entry in table.context.storage.list(DECISIONS):
        yield _decode(int(entry.path.rpartition("/")[2]), table.context.storage.get(entry.path))


class Dies(BaseException):
    """The end of a writer's process."""


def announces_and_dies(table: Table, monkeypatch: pytest.MonkeyPatch, *given: str, **options: Any) -> None:
    """A writer of rows with these keys dies after it has announced its instant."""

    def dies(*_: object, **__: object) -> None:
        raise Dies

    with monkeypatch.context() as patched:
        patched.setattr(announced, "_under_lock", dies)
        patched.setattr(announced, "_without_lock", dies)
        with pytest.raises(Dies):
            table.upsert(rows(*given), **options)


def test_many_writers_commit_in_few_entries_and_in_order(bucket: Bucket, decision: str) -> None:
    """Each of them at every moment: all rows are there, and the timeline grew in the order of completion."""
    url, options = "s3://lake/t", {DECISION: decision, SKEW: "1"}
    Table.create(
        None, url, SCHEMA, record_key="id", ordering_fields="ts", options=options, storage_options=bucket.options
    )
    bucket.latency_seconds = 0.01
    writers, each, failed = 6, 3, list[Exception]()

    def write(number: int) -> None:
        try:
            mine = Table.open(None, url, bucket.options)
            for turn in range(each):
                done = mine.upsert(rows(f"{number}.{turn}"))
                assert done in mine.timeline(), "acknowledged is published"
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    bucket.latency_seconds = 0.0
    table = Table.open(None, url, bucket.options)
    assert keys(table) == sorted(f"{number}.{turn}" for number in range(writers) for turn in range(each))
    assert len([*entries(table)]) < writers * each, "one entry decides several commits"
    # The server adds a request to its list after its answer, so that a busy machine may swap two of them.
    requests = sorted(bucket.requests, key=lambda each: each.began)
    puts = (each.key.rpartition("_") for each in requests if each.method == "PUT")
    # On a slow machine another actor may put again what the author has put meanwhile.
    times = [*dict.fromkeys(time for before, _, time in puts if before and time.endswith(".deltacommit"))]
    assert times == sorted(times)
    assert len(times) == writers * each
    assert announced_instants(table.context.storage) == []


def test_a_writer_that_dies_after_its_announcement_is_committed_by_another(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    announces_and_dies(table, monkeypatch, "dead")
    assert keys(table) == []
    table.upsert(rows("alive"))
    assert keys(table) == ["alive", "dead"]
    [entry] = entries(table)
    assert len(entry.items) == 2
    assert announced_instants(table.context.storage) == []


def test_a_rollback_commits_what_the_dead_announced(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    announces_and_dies(table, monkeypatch, "dead")
    eager = Table(replace(table.context, rules=replace(table.context.rules, failed_writes="eager")), table.config)
    assert eager.rollback() == ()
    assert keys(table) == ["dead"]


def test_what_is_rolled_back_is_not_committed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollback was planned before the announcement arrived: the plan excludes the commit."""
    eager = Table(replace(table.context, rules=replace(table.context.rules, failed_writes="eager")), table.config)
    announce = announced._announce

    def late(context: Any, own: Announcement, files: Any) -> bool:
        monkeypatch.setattr(announced, "_announce", announce)
        plan = eager.schedule_rollback()
        assert plan is not None
        announce(context, own, files)
        assert decide_announced(context).entry is None, "not while the rollback is pending"
        eager.run_rollback(plan)
        put_announcement(context.storage, own)
        assert decide_announced(context).entry is None
        return True

    monkeypatch.setattr(announced, "_announce", late)
    with pytest.raises(Conflict, match="it has been rolled back"):
        table.upsert(rows("a"))
    monkeypatch.undo()
    table.upsert(rows("b"))
    assert keys(table) == ["b"]
    assert announced_instants(table.context.storage) == []


def test_a_waiting_writer_returns_without_the_lock_when_another_has_committed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(tmp_path / "t")
    answers: list[Instant] = []
    other, storage, announce = Table.open(None, table.context.storage.url), table.context.storage, announced._announce

    def takes_lock_first(context: Any, own: Announcement, files: Any) -> bool:
        other.context.lock.acquire()
        return announce(context, own, files)

    monkeypatch.setattr(announced, "_announce", takes_lock_first)
    waiting = threading.Thread(target=lambda: answers.append(table.upsert(rows("a"))))
    waiting.start()
    while not announced_instants(storage):
        assert waiting.is_alive()
    found = decide_announced(other.context)
    forget_announcements(storage, found.garbage)
    waiting.join(20)
    is_waiting = waiting.is_alive()
    other.context.lock.release()
    assert not is_waiting, "the lock was held all the time"
    assert [item.instant for entry in entries(table) for item in entry.items] == answers


def test_two_optimistic_writers_of_one_bucket_do_not_commit_in_one_entry(
    tmp_path: Path, decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(tmp_path / "t", "OPTIMISTIC_CONCURRENCY_CONTROL", **{DECISION: decision})
    table.upsert(rows("before"))
    announces_and_dies(table, monkeypatch, "dead")
    with pytest.raises(Conflict, match="has written bucket 0") as refused:
        table.upsert(rows("a"))
    [_, entry] = entries(table)
    assert refused.value.against == entry.items[0].requested
    assert keys(table) == ["before", "dead"]
    table.upsert(rows("again"), retries=1)
    assert keys(table) == ["again", "before", "dead"]


def test_a_batch_of_two_attempts_is_committed_once(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    announces_and_dies(table, monkeypatch, "a", batch_id="b1")
    done = table.upsert(rows("a"), batch_id="b1")
    assert Counter(instant.state for instant in table.timeline()) == {"completed": 1}
    assert done in table.timeline()
    assert keys(table) == ["a"]


def test_a_request_from_a_clock_far_ahead_is_left_alone(table: Table) -> None:
    """Its writer's clock would drag the times of all later commits along."""
    storage, ahead = table.context.storage, "20990101000000000"
    storage.put(f".hoodie/timeline/{ahead}.deltacommit.requested", b"")
    assert put_announcement(storage, Announcement(Announced(ahead, "deltacommit"), b"{}"))
    assert decide_announced(table.context).entry is None


def test_who_does_not_get_the_lock_may_still_be_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(tmp_path / "t", **{"hoodie.write.lock.wait_time_ms": "1"})
    announce = announced._announce

    def locks(context: Any, own: Announcement, files: Any) -> bool:
        context.lock.acquire()
        return announce(context, own, files)

    monkeypatch.setattr(announced, "_announce", locks)
    with pytest.raises(LockTimeout):
        table.upsert(rows("a"))
    table.context.lock.release()
    monkeypatch.undo()
    table.upsert(rows("b"))
    assert keys(table) == ["a", "b"]


def test_an_entry_whose_content_is_lost_stops_the_writers(table: Table) -> None:
    storage = table.context.storage
    item = Decision(1, "commit", NOW, "deltacommit", NOW, announced=Announced(NOW, "deltacommit"))
    put_entry(storage, LogEntry(1, (item,), NOW))
    with pytest.raises(Damaged, match=r"neither .* nor the announcement"):
        table.upsert(rows("a"))


def test_what_was_published_and_forgotten_is_not_published_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The author of an entry stops after its creation; meanwhile others publish it and delete the announcements."""
    carry = carry_out

    def late(*given: Any) -> None:
        monkeypatch.setattr(deciding, "carry_out", carry)
        table.upsert(rows("b"))
        carry(*given)

    monkeypatch.setattr(deciding, "carry_out", late)
    table = Table(replace(table.context, lock=_NoLock()), table.config)
    table.upsert(rows("a"))
    assert keys(table) == ["a", "b"]
    decided = Counter(item.requested for entry in entries(table) for item in entry.items)
    assert set(decided.values()) == {1}


class _NoLock:
    """As of writers that have all lost the lock."""

    def acquire(self) -> None:
        """Hold nothing."""

    def release(self) -> None:
        """Hold nothing."""


def test_optimistic_writers_of_copy_on_write_files_lose_nothing(tmp_path: Path, decision: str) -> None:
    table = Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1, table_type="COPY_ON_WRITE",
        concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL", options={DECISION: decision},
    )  # fmt: skip
    failed: list[Exception] = []

    def write(number: int) -> None:
        try:
            mine = Table.open(None, tmp_path / "t")
            for turn in range(3):
                mine.upsert(rows(f"{number}.{turn}"), retries=50)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert keys(table) == sorted(f"{number}.{turn}" for number in range(3) for turn in range(3))
