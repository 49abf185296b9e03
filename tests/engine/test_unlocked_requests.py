"""Requests without the lock: what happens between a writer's steps, and what a writer no longer waits for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.engine.clock import SHARED_SKEW_MS, WallClock, to_millis
from nbcc.engine.config.concurrency import OPTIMISTIC
from nbcc.engine.config.options import REQUESTS
from nbcc.engine.errors import Conflict, Unsupported
from nbcc.engine.timeline.publish import put_requested
from nbcc.engine.writes.claims import claim
from nbcc.engine.writes.unlocked_request import read_floor
from nbcc.simulator.lockstep.s3.server import s3_server
from tests.builders.tables import SCHEMA, batch, make_table

from .hooked import during, watched

UNLOCKED = {REQUESTS: "put_if_absent"}
PUT = "deltacommit.requested"


class Ticks:
    """A machine's clock that stands still until its process sleeps."""

    def __init__(self, millis: int) -> None:
        self.millis = millis

    def clock(self, skew_ms: int = 0) -> WallClock:
        return WallClock(skew_ms, lambda: self.millis * 1_000_000, self._sleep, splits=True)

    def _sleep(self, seconds: float) -> None:
        self.millis += round(seconds * 1000)


def at(table: Table, millis: int, skew_ms: int = 0) -> Table:
    return Table(replace(table.context, clock=Ticks(millis).clock(skew_ms)), table.config)


def keys(table: Table) -> set[str]:
    return {row["id"] for row in table.snapshot().to_pylist()}


def goes_on(table: Table) -> None:
    """Others write, compact and archive."""
    for number in range(4):
        table.upsert(batch((f"n{number}", 9, "z")))
        table.compact()
    assert table.archive(retained=1)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = make_table(tmp_path / "t", options=UNLOCKED)
    made.upsert(batch(("k0", 1, "x")))
    return made


def test_a_commit_takes_the_lock_once(table: Table) -> None:
    seen, calls = watched(table)
    seen.upsert(batch(("k1", 1, "x")))
    assert calls.count("acquire") == 1
    assert calls.index("take_unlocked") < calls.index("acquire") < calls.index("take")


def test_requests_have_even_times_and_all_others_odd_ones(table: Table) -> None:
    done = table.compact()
    assert done is not None
    [write] = [each for each in table.timeline() if each.action == "deltacommit"]
    assert int(write.requested) % 2 == 0
    assert all(int(time) % 2 for time in (write.completed, done.requested, done.completed) if time)


def test_two_writers_whose_clocks_show_the_same_time_get_two_times(table: Table) -> None:
    now = to_millis(table.timeline()[-1].completed or "") + 1000
    other = at(table, now)
    done: list[Any] = []
    first = during(at(table, now), ".nbcc/times/", lambda: done.append(other.upsert(batch(("k1", 1, "x")))))
    mine = first.upsert(batch(("k2", 1, "x")))
    assert mine.requested != done[0].requested
    assert abs(to_millis(mine.requested) - to_millis(done[0].requested)) <= 2
    assert keys(table) == {"k0", "k1", "k2"}


def test_the_time_of_a_write_that_was_rolled_back_is_not_taken_again(table: Table) -> None:
    """The put of the requested instant alone would succeed."""
    now = to_millis(table.timeline()[-1].completed or "") + 1000
    taken = at(table, now).context.clock.take_unlocked()
    assert claim(table.context, taken)
    assert at(table, now).upsert(batch(("k1", 1, "x"))).requested > taken


def test_a_request_that_an_archiver_has_passed_is_withdrawn_and_made_again(table: Table) -> None:
    slow = during(table, PUT, lambda: goes_on(table))
    done = slow.upsert(batch(("k1", 1, "x")))
    assert done.requested > read_floor(table.context) > ""
    assert not table.context.active().pending
    assert "k1" in keys(table)


def test_an_archiver_passes_no_request_that_came_after_its_first_listing(table: Table) -> None:
    old = table.context.clock.take_unlocked()
    for number in range(4):
        table.upsert(batch((f"n{number}", 9, "z")))
        table.compact()

    def arrives() -> None:
        table.context.heartbeats.start(old)
        put_requested(table.context.storage, old, "deltacommit", b"token")

    archiver = during(table, ".nbcc/floor", arrives, on="get")
    archived = archiver.archive(retained=1)
    assert archived
    assert max(each.requested for each in archived) < old < read_floor(table.context)
    assert table.context.active().find(old, "deltacommit") is not None
    table.context.heartbeats.stop(old)


def test_a_write_requested_before_a_restore_is_refused_although_the_restore_did_not_list_it(table: Table) -> None:
    def restored() -> None:
        table.savepoint()
        table.upsert(batch(("k2", 1, "x")))
        table.restore()

    with pytest.raises(Conflict, match="rolled back"):
        during(table, PUT, restored).upsert(batch(("k1", 1, "x")))
    assert keys(table) == {"k0"}


def test_a_batch_is_written_once(table: Table) -> None:
    done = table.upsert(batch(("k1", 1, "x")), batch_id="b")
    assert table.upsert(batch(("k1", 1, "x")), batch_id="b") == done
    again: list[Any] = []
    slow = during(table, PUT, lambda: again.append(table.upsert(batch(("k2", 1, "x")), batch_id="c")))
    assert [slow.upsert(batch(("k2", 1, "x")), batch_id="c")] == again
    assert not table.context.active().pending


def test_an_optimistic_writer_keeps_the_lock(tmp_path: Path) -> None:
    seen, calls = watched(make_table(tmp_path / "t", options=UNLOCKED, concurrency_mode=OPTIMISTIC))
    seen.upsert(batch(("k1", 1, "x")))
    assert calls.count("acquire") == 2


def test_a_timeline_in_the_future_is_refused(table: Table) -> None:
    behind = at(table, to_millis(table.timeline()[-1].completed or "") - 10_000)
    with pytest.raises(Conflict, match="ahead of this machine's clock"):
        behind.upsert(batch(("k1", 1, "x")))
    assert not table.context.active().pending


def test_a_writer_that_does_not_know_the_feature_is_refused(table: Table, tmp_path: Path) -> None:
    properties = tmp_path / "t/.hoodie/hoodie.properties"
    text = properties.read_text()
    assert "unlocked-requests" in text
    properties.write_text(text.replace("unlocked-requests", "unlocked-requests-2"))
    with pytest.raises(Unsupported, match="must know the features unlocked-requests-2"):
        Table.open(None, tmp_path / "t").upsert(batch(("k1", 1, "x")))


def test_an_object_store_lists_and_claims_at_once_also_by_a_clock_that_is_behind() -> None:
    with s3_server() as bucket:
        table = Table.create(None, "s3://lake/t", SCHEMA, record_key="id", ordering_fields="ts", partition_by="part",
                             buckets=1, options=UNLOCKED, storage_options=bucket.options)  # fmt: skip
        ahead = table.upsert(batch(("k0", 1, "x")))
        now = to_millis(ahead.completed or "")
        done = at(table, now - SHARED_SKEW_MS // 2, SHARED_SKEW_MS).upsert(batch(("k1", 1, "x")))
        assert done.requested > (ahead.completed or "")
        assert keys(table) == {"k0", "k1"}
        assert not table.context.active().pending
