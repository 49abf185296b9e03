"""A barrier and a request of the same millisecond, where a lock is lost during the wait for other clocks."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.engine.actions import run_compaction, schedule_compaction, upsert
from nbcc.engine.audit import gather
from nbcc.engine.clock import to_instant, to_millis
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.errors import BadInput
from nbcc.engine.repair import orphan_files
from nbcc.engine.repair.times import retiming
from nbcc.engine.rules import Rules
from nbcc.engine.timeline import Instant
from nbcc.engine.writes import claims
from nbcc.simulator.audit import validate
from tests.builders.tables import batch, make_table, state, tick

OLD = {"claims": "none", "tombstone_logs": "by_time"}


class LostLock:
    """A lock whose every holder has lost it: all of them go on writing."""

    def acquire(self) -> None:
        """There is nothing to wait for."""

    def release(self) -> None:
        """There is nothing to give back."""


def raced(folder: Path, **rules: str) -> tuple[Table, Instant, Instant]:
    """A table in which a writer requests while a compactor waits, by a clock that shows the compactor's time.

    The table, the completed compaction and the completed write of k1 and k2.
    """
    table = make_table(folder, options={"nbcc.decision": "log"})
    context: Any = table.context
    object.__setattr__(context, "rules", replace(context.rules, **rules))
    table.upsert(batch(("k1", 1, "old")))
    requested, goes_on = threading.Event(), threading.Event()
    done: list[Instant] = []

    class Stops:
        """The writer's storage, which stops it in front of its log file."""

        def __init__(self) -> None:
            self.url = context.storage.url

        def __getattr__(self, name: str) -> Any:
            return getattr(context.storage, name)

        def put_if_absent(self, path: str, data: bytes) -> bool:
            if ".log." in path and not requested.is_set():
                requested.set()
                goes_on.wait(10)
            return bool(context.storage.put_if_absent(path, data))

    def writes() -> None:
        storage: Any = Stops()
        jobs = InProcessJobs(storage, context.names)
        own = replace(context, storage=storage, jobs=jobs, lock=LostLock())
        done.append(upsert.run(own, table.config, batch(("k1", 5, "new"), ("k2", 5, "new"))))

    writer = threading.Thread(target=writes)

    class ReadsFirst:
        """The compactor's clock: the writer requests between its reading and the end of its wait."""

        def take(self) -> str:
            context.clock.now += 1
            read = context.clock.now
            if writer.ident is None:
                context.clock.now -= 1
                writer.start()
                assert requested.wait(10)
                context.clock.now = max(context.clock.now, read)
            return tick(read)

        def not_before(self, instant: str) -> None:
            """Nothing is newer."""

    plan = schedule_compaction.run(replace(context, lock=LostLock(), clock=ReadsFirst()), table.config)
    assert plan is not None
    compaction = run_compaction.run(context, table.config, plan)
    goes_on.set()
    writer.join(10)
    assert compaction is not None
    return table, compaction, done[0]


NEW = {("k1", 5, "new"), ("k2", 5, "new")}


def test_a_barrier_and_a_request_are_never_equal(tmp_path: Path) -> None:
    table, _compaction, write = raced(tmp_path / "t")
    times = [time for i in table.timeline() for time in (i.requested, i.completed) if time]
    assert len(set(times)) == len(times)
    assert state(table.snapshot()) == state(table.as_of(write)) == NEW
    assert table.compact() is not None
    assert state(table.snapshot()) == NEW


def test_a_log_is_not_taken_for_tombstones_because_of_an_equal_time(tmp_path: Path) -> None:
    """Times that were not claimed, as in tables of earlier releases."""
    table, compaction, write = raced(tmp_path / "t", claims="none")
    assert compaction.requested == write.requested
    assert state(table.snapshot()) == state(table.as_of(write)) == NEW
    assert table.compact() is not None
    assert state(table.snapshot()) == NEW


def test_by_equal_time_the_row_was_lost(tmp_path: Path) -> None:
    table, _, _write = raced(tmp_path / "t", **OLD)
    assert state(table.snapshot()) == {("k1", 1, "old")}
    assert table.compact() is None


def test_nothing_advises_to_delete_a_file_of_equal_times(tmp_path: Path) -> None:
    table, _compaction, write = raced(tmp_path / "t", claims="none")
    report = validate(table.context.storage, opened=True)
    remedies = {diagnostic.rule: diagnostic.remedy for diagnostic in report.diagnostics}
    assert set(remedies) == {"equal-times"}
    assert "delete no file of that time" in remedies["equal-times"]
    assert report.promises["SNAP"].verdict == "UNDETERMINED"
    found = gather(table.context.storage)
    assert [orphan for orphan in orphan_files(found) if not orphan.kept] == []
    assert any("several instants were requested at" in orphan.because for orphan in orphan_files(found))
    by_lock = replace(found, properties={k: v for k, v in found.properties.items() if k != "nbcc.decision"})
    with pytest.raises(BadInput, match="several instants were requested at that time"):
        retiming(by_lock, write.requested, tick(90))


def test_a_claimed_time_has_one_owner(tmp_path: Path) -> None:
    context = make_table(tmp_path / "t", options={"nbcc.decision": "log"}).context
    first = claims.new_time(context)
    context.clock.now -= 1  # type: ignore[attr-defined]  # another machine's clock shows it, too
    assert claims.new_time(context) > first


def test_a_claim_whose_answer_was_lost_is_recognised(tmp_path: Path) -> None:
    context = make_table(tmp_path / "t", options={"nbcc.decision": "log"}).context

    class Silent:
        def __getattr__(self, name: str) -> Any:
            return getattr(context.storage, name)

        def put_if_absent(self, path: str, data: bytes) -> bool:
            context.storage.put_if_absent(path, data)
            return False

    storage: Any = Silent()
    expected = tick(context.clock.now + 1)  # type: ignore[attr-defined]
    assert claims.new_time(replace(context, storage=storage)) == expected


def test_a_claim_that_took_too_long_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = make_table(tmp_path / "t", options={"nbcc.decision": "log"}).context
    read = iter([0.0, claims.PATIENCE_SECONDS + 1, 5_000.0, 5_001.0])
    monkeypatch.setattr(time, "time", lambda: next(read))
    expected = tick(context.clock.now + 2)  # type: ignore[attr-defined]
    assert claims.new_time(context) == expected


def test_archiving_deletes_the_claims_that_no_actor_may_use(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", options={"nbcc.decision": "log"})
    storage = table.context.storage
    done = table.upsert(batch(("k1", 1, "a")))
    hour = int(claims.PATIENCE_SECONDS * 1000)
    assert done.completed is not None
    old, young = (to_instant(to_millis(done.completed) - hour + by) for by in (-1, 0))
    for taken in (old, young):
        storage.put_if_absent(f"{claims.FOLDER}/{taken}", b"another's")
    table.archive()
    left = {entry.path.rpartition("/")[2] for entry in storage.list(claims.FOLDER)}
    assert left == {young, done.requested, done.completed}


def test_where_the_lock_decides_nothing_is_claimed(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k1", 1, "a")))
    assert table.context.storage.list(claims.FOLDER) == []
    assert Rules().claims == "every_time"
