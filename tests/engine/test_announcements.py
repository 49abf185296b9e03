"""Announced instants: their writers commit together, and another writer commits the instants of the dead."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from nbcc.engine.timeline.decisions import Decision, LogEntry, put_entry
from nbcc.engine.writes import announced, deciding
from nbcc.engine.writes.deciding import decide_announced
from nbcc.simulator.lockstep.s3.server import Bucket
from tests.builders.heartbeats import Died, dies
from tests.builders.meanwhile import before_next
from tests.builders.threads import in_threads

from .free_tables import SCHEMA, NoLock, eager, entries, keys, made, rows

NOW = "20260101000000001"


@pytest.fixture(params=["shared", "free"])
def decision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(tmp_path: Path, decision: str) -> Table:
    return made(tmp_path / "t", decision)


def announces_and_dies(table: Table, monkeypatch: pytest.MonkeyPatch, *given: str, **options: Any) -> None:
    """A writer of rows with these keys dies after it has announced its instant."""
    with monkeypatch.context() as patched:
        patched.setattr(announced, "_under_lock", dies)
        patched.setattr(announced, "_without_lock", dies)
        with pytest.raises(Died):
            table.upsert(rows(*given), **options)


def test_many_writers_commit_in_few_entries_and_in_order(bucket: Bucket, decision: str) -> None:
    """Each of them at every moment: all rows are there, and the timeline grew in the order of completion."""
    url, options = "s3://lake/t", {DECISION: decision, SKEW: "1"}
    Table.create(
        None, url, SCHEMA, record_key="id", ordering_fields="ts", options=options, storage_options=bucket.options
    )
    bucket.latency_seconds = 0.01
    writers, each = 6, 3

    def write(number: int) -> None:
        mine = Table.open(None, url, bucket.options)
        for turn in range(each):
            done = mine.upsert(rows(f"{number}.{turn}"))
            assert done in mine.timeline(), "acknowledged is published"

    in_threads(writers, write)
    bucket.latency_seconds = 0.0
    table = Table.open(None, url, bucket.options)
    assert keys(table) == sorted(f"{number}.{turn}" for number in range(writers) for turn in range(each))
    assert len(entries(table)) < writers * each, "one entry decides several commits"
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
    assert eager(table).rollback() == ()
    assert keys(table) == ["dead"]


def test_what_is_rolled_back_is_not_committed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollback was planned before the announcement arrived: the plan excludes the commit."""
    other, announce = eager(table), announced._announce

    def late(context: Any, own: Announcement, files: Any) -> bool:
        monkeypatch.setattr(announced, "_announce", announce)
        plan = other.schedule_rollback()
        assert plan is not None
        announce(context, own, files)
        assert decide_announced(context).entry is None, "not while the rollback is pending"
        other.run_rollback(plan)
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
    table = made(tmp_path / "t", "shared")
    answers: list[Instant] = []
    other, storage = Table.open(None, table.context.storage.url), table.context.storage
    before_next(monkeypatch, announced, "_announce", other.context.lock.acquire)
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
    table = made(tmp_path / "t", decision, "OPTIMISTIC_CONCURRENCY_CONTROL")
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
    table = made(tmp_path / "t", "shared", **{"hoodie.write.lock.wait_time_ms": "1"})
    before_next(monkeypatch, announced, "_announce", table.context.lock.acquire)
    with pytest.raises(LockTimeout):
        table.upsert(rows("a"))
    table.context.lock.release()
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
    table = Table(replace(table.context, lock=NoLock()), table.config)
    before_next(monkeypatch, deciding, "carry_out", lambda: table.upsert(rows("b")))
    table.upsert(rows("a"))
    assert keys(table) == ["a", "b"]
    decided = Counter(item.requested for entry in entries(table) for item in entry.items)
    assert set(decided.values()) == {1}


def test_optimistic_writers_of_copy_on_write_files_lose_nothing(tmp_path: Path, decision: str) -> None:
    table = Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1, table_type="COPY_ON_WRITE",
        concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL", options={DECISION: decision},
    )  # fmt: skip

    def write(number: int) -> None:
        mine = Table.open(None, tmp_path / "t")
        for turn in range(3):
            mine.upsert(rows(f"{number}.{turn}"), retries=50)

    in_threads(3, write)
    assert keys(table) == sorted(f"{number}.{turn}" for number in range(3) for turn in range(3))
