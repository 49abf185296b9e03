"""State checkpoints (docs/contract.md, SAME): each read through a checkpoint equals the read of all commits."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc import Table
from nbcc.engine.actions import archive
from nbcc.engine.config.options import SKEW
from nbcc.engine.storage import ObjectStorage
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.state_checkpoint import (
    FOLDER,
    KEPT,
    WRITES_BETWEEN,
    checkpoint_paths,
    newest_checkpoint,
    put_checkpoint,
)
from nbcc.simulator.lockstep.s3.server import Bucket
from tests.builders.hudi import same
from tests.builders.state_checkpoints import COPIES, answer, answers, checkpoint, cold, used, without_checkpoints
from tests.builders.tables import SCHEMA, HourClock, batch, keys, make_table, state, table_of, tick

from .hooked import during
from .walk import CONSUMED, OPERATIONS


@pytest.mark.parametrize("changes", [{}, {"partition_by": None}, {"buckets": 3}, COPIES])
def test_every_read_is_the_same_with_and_without_checkpoints(changes: dict[str, Any], tmp_path: Path) -> None:
    table, done = make_table(tmp_path, **changes), []
    for number in range(14):
        done.append(table.upsert(batch((f"k{number % 5}", number, f"{number}"), ("all", number, "x"))))
        if number % 4 == 1:
            done.append(table.delete(keys((f"k{number % 3}", number))))
        if number % 3 == 2 and not changes.get("table_type"):
            table.log_compact()
        if number % 5 == 4 and (compacted := table.compact()):
            done.append(compacted)
        if number % 3 == 1:
            checkpoint(table)
        if number == 9:
            table.clean(retained=5)
            table.archive(retained=2)
    assert len(checkpoint_paths(table.context.storage)) == KEPT
    assert any(FOLDER in call for call in used(table))
    assert answers(table, done) == without_checkpoints(table, done)


@pytest.mark.parametrize("seed", range(2))
def test_reads_of_random_histories_are_the_same_with_and_without_checkpoints(seed: int, tmp_path: Path) -> None:
    chance, table = random.Random(seed), make_table(tmp_path, clock=HourClock(), buckets=2, options=CONSUMED)
    seen = 0
    for step in chance.choices(list(OPERATIONS), list(OPERATIONS.values()), k=60):
        step(table, chance)
        if chance.random() < 0.1:
            table.run("checkpoint_state")
        times = [instant for instant in table.timeline() if instant.completed and instant.writes][-2:]
        assert answers(table, times) == without_checkpoints(table, times)
        seen += len(checkpoint_paths(table.context.storage))
    assert seen


def test_a_write_that_is_pending_at_the_checkpoint_is_read_when_it_completes(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "a")))
    made: list[Any] = []

    def meanwhile() -> None:
        made.append(table.upsert(batch(("k1", 2, "b"))))
        made.append(checkpoint(table))
        assert answer(table, Table.snapshot) == {("k1", 2, "b")}

    late = during(table, ".log.", meanwhile).upsert(batch(("k2", 1, "late")))
    between, time = made
    assert late.requested < time == between.completed < (late.completed or "")
    assert answer(table, Table.snapshot) == {("k1", 2, "b"), ("k2", 1, "late")}
    assert answers(table, [between, late]) == without_checkpoints(table, [between, late])


def test_a_delete_that_a_compaction_keeps_is_in_the_checkpoint(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "a")))
    table.delete(keys(("k1", 5)))
    table.compact()
    checkpoint(table)
    table.upsert(batch(("k1", 3, "older than the delete")))
    assert answer(table, Table.snapshot) == {("k2", 1, "a")}


def test_the_log_of_a_log_compaction_keeps_the_rank_of_its_inputs(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    done = [table.upsert(batch(("k", 1, value))) for value in "ab"]
    planned = table.schedule_log_compaction()
    done.append(table.upsert(batch(("k", 1, "newer"))))
    table.run_log_compaction(planned)
    checkpoint(table)
    assert answer(table, Table.snapshot) == {("k", 1, "newer")}
    assert answers(table, done) == without_checkpoints(table, done)


def test_a_checkpoint_lists_the_hidden_inputs_of_a_pending_log_compaction(tmp_path: Path) -> None:
    """The new log takes the place of its inputs, before the overwrite that hides them."""
    table = make_table(tmp_path)
    times = [table.upsert(batch(("old", number, "x"))) for number in range(2)]
    planned = table.schedule_log_compaction()
    times.append(table.insert_overwrite(batch(("new", 2, "y"))))
    table.run("checkpoint_state")
    table.run_log_compaction(planned)
    times.append(table.upsert(batch(("new", 3, "z"))))
    assert answers(table, times) == without_checkpoints(table, times)
    assert state(cold(table).snapshot()) == {("new", 3, "z")}


def test_a_checkpoint_lists_the_replaced_file_groups_of_a_pending_log_compaction(tmp_path: Path) -> None:
    """Its inputs are listed, too, although a resize has replaced their file groups."""
    table = make_table(tmp_path)
    times = [table.upsert(batch((f"k{number}", number, "x"))) for number in range(3)]
    planned = table.schedule_log_compaction()
    times.append(table.upsert(batch(("k1", 5, "y"))))
    table.resize(buckets=2)
    table.run("checkpoint_state")
    expected = {("k0", 0, "x"), ("k1", 5, "y"), ("k2", 2, "x")}
    assert sorted(state(cold(table).snapshot())) == sorted(expected)
    table.run_log_compaction(planned)
    assert sorted(state(cold(table).snapshot())) == sorted(expected)
    assert answers(table, times) == without_checkpoints(table, times)


def test_a_restore_makes_older_checkpoints_useless(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    times = [table.upsert(batch(("k1", 1, "kept")))]
    table.savepoint()
    times.append(table.upsert(batch(("k1", 2, "undone"))))
    table.compact()
    before = checkpoint(table)
    table.run("schedule_restore")
    assert answer(table, Table.snapshot) == {("k1", 1, "kept")}, "the restore is planned, and not run"
    assert answers(table, times) == without_checkpoints(table, times)
    table.restore()
    assert answers(table, times) == without_checkpoints(table, times)
    after = checkpoint(table)
    assert [path.rpartition("/")[2][:17] for path in checkpoint_paths(table.context.storage)] == [after]
    assert before < after
    assert answers(table, times) == without_checkpoints(table, times)


def written(folder: Path) -> tuple[Table, list[Instant]]:
    """A table with a checkpoint after its second of three writes."""
    table = make_table(folder)
    done = [table.upsert(batch(("k1", 1, "a"))), table.upsert(batch(("k2", 2, "b")))]
    checkpoint(table)
    return table, [*done, table.upsert(batch(("k1", 3, "c")))]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        lambda data: b"not parquet",
    ],
)
def test_a_damaged_checkpoint_is_not_used(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    table, done = written(tmp_path)
    [path] = checkpoint_paths(table.context.storage)
    expected = answers(table, done)
    table.context.storage.put(path, damage(table.context.storage.get(path)))
    assert answers(table, done) == expected
    assert len([call for call in used(table) if "deltacommit" in call]) == 3, "every commit is read"


def test_of_two_damaged_and_whole_checkpoints_the_newest_whole_one_is_used(tmp_path: Path) -> None:
    table, done = written(tmp_path)
    expected = answers(table, done)
    storage = table.context.storage
    storage.put(f"{FOLDER}/{tick(900)}_{'0' * 32}.parquet", b"from the future")
    storage.put(f"{FOLDER}/notes.txt", b"not a checkpoint")
    found = newest_checkpoint(storage)
    assert found is not None
    put_checkpoint(storage, replace(found, rows=tuple(reversed(found.rows))))  # the same state by another process
    assert answers(table, done) == expected
    assert len([call for call in used(table) if "deltacommit" in call]) == 1


def test_a_checkpoint_that_is_dropped_while_a_reader_looks_for_it_changes_nothing(tmp_path: Path) -> None:
    table, done = written(tmp_path)
    expected = answers(table, done)
    storage = table.context.storage
    gone = during(table, FOLDER, lambda: storage.delete_all(checkpoint_paths(storage)), on="get")
    assert state(gone.snapshot()) == expected[0]


def test_a_crash_between_the_put_and_the_drop_leaves_a_checkpoint_too_many(tmp_path: Path) -> None:
    table, _ = written(tmp_path)
    storage = table.context.storage
    for number in range(KEPT + 3):
        found = newest_checkpoint(storage)
        assert found is not None
        put_checkpoint(storage, replace(found, time=tick(number + 1)))
    checkpoint(table)
    assert len(checkpoint_paths(storage)) == KEPT


def test_writes_that_were_archived_after_the_checkpoint_are_found(tmp_path: Path) -> None:
    table = make_table(tmp_path, **COPIES)
    done = [table.upsert(batch((f"k{number}", number, "x"))) for number in range(4)]
    checkpoint(table)
    done += [table.upsert(batch((f"k{number}", number, "y"))) for number in range(2, 9)]
    archive.run(cold(table).context, table.config, 2)  # Table.archive would put another checkpoint
    assert len(table.timeline()) < 5
    assert any("history" in call and "parquet" in call for call in used(table))
    assert answers(table, done) == without_checkpoints(table, done)


def test_operations_put_checkpoints_after_some_writes(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in range(WRITES_BETWEEN):
        table.upsert(batch(("k", number, "x")))
        table.compact()
    assert len(checkpoint_paths(table.context.storage)) == 2, "compactions count as well"
    assert same(table), "hudi-rs ignores them"


def test_a_failed_put_of_a_checkpoint_fails_no_operation(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in range(WRITES_BETWEEN):
        table.upsert(batch(("k", number, "x")))

    def fail() -> None:
        raise OSError("disk full")

    with pytest.warns(UserWarning, match="no state checkpoint was put: disk full"):
        assert during(table, FOLDER, fail).compact() is not None
    assert checkpoint_paths(table.context.storage) == []


@pytest.mark.parametrize("commits", [10, 130])
def test_a_first_snapshot_makes_at_most_twelve_planning_requests_in_sequence(commits: int, bucket: Bucket) -> None:
    """The services run at their defaults, and the process that reads is new."""
    options = {SKEW: "1", "hoodie.archive.automatic": "true"}
    table = Table.create(
        None, "s3://lake/t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1, options=options,
        storage_options=bucket.options,
    )  # fmt: skip
    for number in range(commits):
        table.upsert(table_of(SCHEMA, (f"k{number % 7}", "p", number, "x")))
        if number % 8 == 7:
            table.compact()
            table.clean()
    assert isinstance(table.context.storage, ObjectStorage)
    bucket.requests.clear()
    bucket.latency_seconds = 0.02
    rows = Table.open(None, "s3://lake/t", storage_options=bucket.options).snapshot()
    assert len(rows) == 7
    bucket.requests[:] = [request for request in bucket.requests if "/.hoodie/" in request.key or not request.key]
    assert bucket.depth() <= 12
