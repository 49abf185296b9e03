"""Maintenance: what a pass does, which triggers fire, what stays, and two daemons at once."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.actions import maintain, run_compaction, schedule_clean
from nbcc.engine.config.maintenance import MaintenancePolicy
from nbcc.engine.errors import Cleaned, Conflict
from nbcc.engine.services.consumers import publish_progress
from nbcc.engine.timeline.heartbeats import FOLDER as HEARTBEATS
from nbcc.engine.timeline.history import History
from nbcc.engine.writes.commit_protocol import request
from nbcc.engine.writes.idempotency import FOLDER as BATCHES
from tests.builders.heartbeats import Died, Heartbeats
from tests.builders.tables import SCHEMA, HourClock, batch, make_table, state, tick

from .hooked import during

OFTEN = MaintenancePolicy(compact_commits=2, clean_retained=1, archive_least=1, archive_most=2)


def services(steps: tuple[maintain.ServiceStep, ...]) -> list[str]:
    return [step.service for step in steps]


def written(table: Table, count: int, since: int = 0) -> None:
    for number in range(since, since + count):
        table.upsert(batch((f"k{number % 3}", number, f"{number}")), batch_id=f"q/{number}")


def test_no_lock_is_taken_to_plan_a_clean_that_would_delete_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(tmp_path)
    written(table, 2)
    monkeypatch.setattr(schedule_clean, "run", lambda *_, **__: pytest.fail("it takes the lock"))
    assert services(table.maintain(MaintenancePolicy(clean_commits=1))) == ["state"]


def test_a_pass_runs_what_is_due_and_changes_no_answer(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    written(table, 4)
    before = state(table.snapshot())
    steps = table.maintain(OFTEN)
    assert services(steps) == ["compact", "archive", "checkpoint", "state"]
    assert dict(steps[0].because) == {"commits": 4}
    assert state(table.snapshot()) == before
    assert steps[-1].counts["logs_per_slice"] == 0
    assert services(table.maintain(OFTEN)) == ["state"], "nothing is due any more"
    written(table, 1, since=4)
    later = table.maintain(OFTEN)
    assert services(later) == ["clean", "state"], "the base file is older than the newest write"
    for step in (*steps, *later):
        assert json.loads(json.dumps(step.record())) == step.record()
        assert "\n" not in str(step)


def test_a_dry_run_says_what_a_pass_would_do_and_changes_nothing(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    written(table, 4)
    there = [(entry.path, entry.size) for entry in table.context.storage.list("")]
    steps = table.maintain(OFTEN, dry_run=True)
    assert steps[0].service == "compact"
    assert steps[0].did == "would run"
    assert [(entry.path, entry.size) for entry in table.context.storage.list("")] == there


@pytest.mark.parametrize(
    ("policy", "because"),
    [
        ({"compact_commits": 3}, {"commits": 3}),
        ({"compact_commits": None, "compact_logs": 3}, {"logs": 3}),
        ({"compact_commits": None, "compact_logs": None, "compact_bytes": 1000}, None),
        ({"compact_commits": None, "compact_logs": None, "compact_seconds": 3600}, {"seconds": 14400}),
        ({"compact_commits": 4, "compact_logs": 4, "compact_seconds": None}, {}),
    ],
)
def test_each_trigger_of_a_compaction_fires_by_itself(
    tmp_path: Path, policy: dict[str, Any], because: dict[str, int] | None
) -> None:
    table = make_table(tmp_path, clock=HourClock())
    written(table, 3)
    [*steps, _] = table.maintain(replace(MaintenancePolicy(clean=False, compact_seconds=None), **policy))
    fired = [dict(step.because) for step in steps if step.service == "compact"]
    if because is None:
        assert [*fired[0]] == ["bytes"]
    else:
        assert fired == ([because] if because else [])


def test_a_planner_plans_once_and_a_daemon_runs_the_plan(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    written(table, 3)
    planner = replace(OFTEN, compaction="plan", clean=False, archive=False)
    assert [step.did for step in table.maintain(planner)] == ["planned", "measured"]
    written(table, 3, since=3)
    assert services(table.maintain(planner)) == ["state"], "a pending plan is not planned again"
    [ran, *_] = table.maintain(replace(OFTEN, clean=False, archive=False, compact_commits=9))
    assert (ran.service, ran.did, dict(ran.because)) == ("compact", "ran", {"pending": 1})
    assert not table.context.commits.plan(ran.instants[0]).replaces


def test_log_compaction_merges_slices_with_many_logs(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    written(table, 3)
    policy = MaintenancePolicy(compaction="off", log_compaction="run", log_compact_logs=3)
    assert services(table.maintain(replace(policy, log_compact_logs=4))) == ["state"]
    steps = table.maintain(policy)
    assert services(steps) == ["log_compact", "state"]
    assert steps[-1].counts["logs_per_slice"] == 1


def test_a_failed_writer_is_rolled_back_and_leaves_nothing(tmp_path: Path) -> None:
    made, heartbeats = make_table(tmp_path), Heartbeats()
    table = Table(replace(made.context, own_heartbeats=heartbeats), made.config)

    def death() -> None:
        raise Died

    with pytest.raises(Died):
        during(table, f"_{tick(2)}", death).upsert(batch(("k1", 1, "a")), batch_id="q/0")
    assert services(table.maintain()) == ["state"], "its heartbeat has not expired"
    heartbeats.beating.clear()
    assert services(table.maintain()) == ["rollback", "collect", "state"]
    assert not table.context.storage.list(BATCHES)


def test_the_heartbeat_interval_of_a_table_decides_when_a_writer_is_dead(tmp_path: Path) -> None:
    """What a pending instant holds: no write after it is archived until its writer counts as dead."""
    options = {"hoodie.client.heartbeat.interval_in_ms": "2000", "hoodie.client.heartbeat.tolerable.misses": "3"}
    Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", options=options)
    table = Table.open(None, tmp_path / "t")
    assert table.config.writer_features > {"heartbeat-interval"}, "an older release would renew too late"
    requested, _ = request(table.context, "deltacommit")
    table.context.heartbeats.stop_renewing(requested)
    written(table, 4)
    heartbeat = tmp_path / "t" / HEARTBEATS / requested
    for age, service in ((5, "compact"), (7, "rollback")):
        os.utime(heartbeat, (time.time() - age,) * 2)
        steps = Table.open(None, tmp_path / "t").maintain(OFTEN)
        assert services(steps)[0] == service
        assert steps[-1].counts["held_writes"] == (5 if service == "compact" else 0), "four and a compaction"
    assert steps[-1].counts["active_writes"] <= OFTEN.archive_most


def test_old_batch_ids_are_collected_unless_an_attempt_is_pending(tmp_path: Path) -> None:
    table = make_table(tmp_path, clock=HourClock())
    written(table, 1)
    requested, _ = request(table.context, "deltacommit", None)
    table.context.storage.put_if_absent(
        f"{table.context.storage.list(BATCHES)[0].path.rpartition('/')[0]}/{requested}", b""
    )
    written(table, 6, since=1)
    policy = MaintenancePolicy(rollback=False, compaction="off", clean=False, archive=False, batch_hours=4)
    [step, _] = table.maintain(policy)
    assert step.counts["batch_ids"] == 3, "of seven writes in fourteen hours; the first is attempted by another writer"
    with pytest.raises(Conflict):  # of the id that is still claimed
        table.upsert(batch(("k9", 1, "other")), batch_id="q/0")
    assert table.upsert(batch(("k1", 1, "1")), batch_id="q/1").completed, "written again, since its id is deleted"


def test_markers_and_heartbeats_of_ended_instants_are_collected_with_their_files(tmp_path: Path) -> None:
    table = make_table(tmp_path, clock=HourClock())
    written(table, 1)
    first = table.timeline()[0].requested
    storage, listed = table.context.storage, table.file_slices()[0].logs[0].path
    late = f"p/.{table.file_slices()[0].file_id}_{first}.log.7_0-0-0"
    for path in (listed, late):
        storage.put_if_absent(f".hoodie/.temp/{first}/{path}.marker.CREATE", b"")
    storage.put_if_absent(late, b"late")
    storage.put_if_absent(f"{HEARTBEATS}/{first}", b"")
    pending, _ = request(table.context, "deltacommit")
    storage.put_if_absent(f".hoodie/.temp/{pending}/p/x.parquet.marker.CREATE", b"")
    written(table, 2, since=1)
    step = table.run("collect", leftover_seconds=3600)
    assert step.files == (late,)
    assert len(step.markers) == 2
    assert step.heartbeats == (f"{HEARTBEATS}/{first}",)
    assert [entry.path for entry in storage.list(".hoodie/.temp")] == [
        f".hoodie/.temp/{pending}/p/x.parquet.marker.CREATE"
    ], "of a live writer"
    assert storage.get(listed)
    assert state(table.snapshot())


def test_a_clean_waits_for_a_named_consumer(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    written(table, 2)
    publish_progress(table.context, "follower", table.timeline()[0].completed or "")
    written(table, 4, since=2)
    table.maintain(OFTEN)
    written(table, 4, since=6)
    table.maintain(OFTEN)
    assert table.changes(table.consumers()["follower"]).num_rows, "what it has not read is not cleaned"


def test_two_daemons_at_once_bound_the_table(tmp_path: Path) -> None:
    table = Table.create(None, tmp_path / "t", batch().schema, record_key="id", ordering_fields="ts", buckets=2)
    policy = replace(OFTEN, compact_commits=3, clean_retained=2, archive_least=3, archive_most=6)
    done, failures = threading.Event(), list[BaseException]()

    def serve() -> None:
        served = Table.open(None, tmp_path / "t")
        try:
            while not done.is_set():
                served.maintain(policy)
        except BaseException as failed:
            failures.append(failed)

    daemons = [threading.Thread(target=serve) for _ in range(2)]
    for daemon in daemons:
        daemon.start()
    for number in range(24):
        table.upsert(batch((f"k{number % 5}", number, f"{number}")))
    done.set()
    for daemon in daemons:
        daemon.join()
    assert failures == []
    counts = table.maintain(policy)[-1].counts
    assert counts["logs_per_slice"] < 3
    assert counts["active_instants"] <= 2 * policy.archive_most
    assert sorted((row["id"], row["ts"]) for row in table.snapshot().to_pylist()) == [
        (f"k{number % 5}", number) for number in (20, 21, 22, 23, 19)
    ]


def test_a_plan_that_a_rival_publishes_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(tmp_path)
    written(table, 3)

    def lost(*_: object) -> None:
        raise Conflict("publish", "another attempt at it has removed files", "run the operation again")

    monkeypatch.setattr(run_compaction, "run", lost)
    [step, *_] = table.maintain(OFTEN)
    assert step.did == "left to another runner"


def test_a_failing_service_leaves_the_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(tmp_path)
    written(table, 3)

    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(run_compaction, "run", full)
    sink = table.sink("orders", query_id="q", maintenance=OFTEN)
    with pytest.warns(UserWarning, match="the write is complete, but a service after it failed: no space"):
        sink(batch(("k7", 7, "7")), 7)
    assert "k7" in {row["id"] for row in table.snapshot().to_pylist()}


def test_a_sink_sets_some_columns_and_runs_services(tmp_path: Path) -> None:
    options = {"nbcc.partial.update.mode": "set_columns"}
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("a", pa.string()), ("b", pa.string())])
    table = Table.create(None, tmp_path / "t", schema, record_key="id", ordering_fields="ts", options=options)
    one = table.sink("one", query_id="1", columns=["a"], maintenance=OFTEN)
    two = table.sink("two", query_id="2", columns=["b"])
    for number in range(4):
        one(pa.table({"id": ["k"], "ts": [number], "a": [f"a{number}"]}), number)
        two(pa.table({"id": ["k"], "ts": [number], "b": [f"b{number}"]}), number)
    assert table.snapshot().select(["a", "b"]).to_pylist() == [{"a": "a3", "b": "b3"}]
    assert any(instant.action == "commit" for instant in table.timeline()), "a compaction"


def collects_what_is_claimed(history: History, claims: Iterable[str], bound: str, _: str) -> Iterator[str]:
    """Selects batch ids as `collecting` does, but also those with a pending attempt."""
    for path in claims:
        found = history.write_at(path.rpartition("/")[2])
        if found is not None and (found.completed or "~") < bound:
            yield path


@pytest.mark.parametrize(
    ("function", "broken", "test"),
    [
        ("services.plan.pending_plans", lambda *_: {}, test_a_planner_plans_once_and_a_daemon_runs_the_plan),
        (
            "actions.schedule_clean.waits_for_consumers", lambda *given: given[2],
            test_a_clean_waits_for_a_named_consumer,
        ),
        (
            "services.collecting._batch_ids", collects_what_is_claimed,
            test_old_batch_ids_are_collected_unless_an_attempt_is_pending,
        ),
    ],
    ids=["plans what is pending", "cleans under a named consumer", "collects a batch that is claimed"],
)  # fmt: skip
def test_a_broken_service_is_detected(
    function: str, broken: Any, test: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"nbcc.engine.{function}", broken)
    with pytest.raises((AssertionError, Cleaned)):
        test(tmp_path)
