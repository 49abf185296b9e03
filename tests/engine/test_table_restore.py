"""Restores: to a savepoint during running writes, resumed after a crash, in Hudi's own file format."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc import Table
from nbcc.engine.actions import schedule_restore
from nbcc.engine.errors import BadInput, Cleaned, Conflict
from nbcc.engine.timeline.container import decode_record
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.hudi import same
from tests.builders.tables import batch, data_files, files, make_table, state, tick

from .hooked import during


def changed(folder: Path) -> tuple[Table, list[str]]:
    """A savepoint of the second write, then a compaction, two more writes, another compaction and a clean."""
    table = make_table(folder)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    pinned = table.upsert(batch(("k1", 2, "c")))
    table.savepoint()
    times = [pinned.completed]
    table.compact()
    for number in (3, 4):
        times.append(table.upsert(batch(("k1", number, f"{number}"))).completed)
        table.compact()
    table.clean(retained=1)
    return table, [time for time in times if time]


def test_a_restore_goes_back_to_the_savepoint_and_no_further(tmp_path: Path) -> None:
    table, (pinned, third, fourth) = changed(tmp_path)
    before = state(table.as_of(pinned))

    done = table.restore()

    assert done is not None
    assert (done.action, done.state) == ("restore", "completed")
    assert state(table.snapshot()) == state(table.as_of(pinned)) == before
    assert same(table)
    assert [i.action for i in table.timeline()] == ["deltacommit", "deltacommit", "savepoint", "clean", "restore"]
    for time in (third, fourth):
        with pytest.raises(Cleaned, match=f"the restore {done.requested} has undone what completed after {pinned}"):
            table.as_of(time)
        with pytest.raises(Cleaned):
            table.incremental(time)
    kept = {path for path in files(table) if path.startswith(f"{FOLDER}/") and path.endswith(".savepoint")}
    (name,) = kept
    record = decode_record(table.context.storage.get(name), name)
    [(partition, saved)] = record["partitionMetadata"].items()
    assert data_files(table) == {f"{partition}/{file}" for file in saved["savepointDataFile"]}

    table.upsert(batch(("k2", 9, "new")))
    table.compact()
    assert state(table.snapshot()) != before
    assert same(table)
    assert table.restore() is not None  # once more: the savepoint is still there
    assert state(table.snapshot()) == before


def test_writers_that_are_under_way_are_refused_and_others_go_on(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "a")))
    table.savepoint()
    before = state(table.snapshot())
    table.upsert(batch(("k1", 2, "b")))

    with pytest.raises(Conflict, match="it has been rolled back"):
        during(table, ".deltacommit.inflight", table.restore).upsert(batch(("k1", 3, "late")))
    assert state(table.snapshot()) == before
    table.upsert(batch(("k1", 2, "b")))
    with pytest.raises(Conflict, match="its plan is no longer on the timeline"):
        during(table, ".parquet", lambda: schedule_restore.run(table.context, table.config)).compact()

    table.restore()
    assert state(table.snapshot()) == before
    assert {i.action for i in table.timeline()} == {"deltacommit", "savepoint", "restore"}
    table.upsert(batch(("k1", 5, "on")))
    assert same(table)


def test_the_plan_counts_and_any_process_resumes_it(tmp_path: Path) -> None:
    table, (pinned, *_) = changed(tmp_path)
    before = state(table.as_of(pinned))

    planned = table.run("schedule_restore")

    assert state(table.snapshot()) == before
    assert table.settled() == planned.requested
    assert state(table.as_of(planned.requested)) == before
    assert table.run("schedule_restore") is None
    after = table.upsert(batch(("k2", 9, "meanwhile")))
    assert state(Table.open(None, tmp_path).snapshot()) == state(table.as_of(after))
    assert table.restore() is not None
    assert state(table.snapshot()) == state(table.as_of(after)) != before
    assert table.restore() is not None  # what came meanwhile completed after the savepoint, too
    assert state(table.snapshot()) == before


def test_the_files_say_what_hudi_says(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    first = table.upsert(batch(("k1", 1, "a")))
    table.savepoint()
    second = table.upsert(batch(("k1", 2, "b")))
    compaction = table.compact()
    assert compaction is not None

    done = table.restore()

    assert done is not None
    plan = decode_record(table.context.storage.get(f"{FOLDER}/{done.requested}.restore.requested"), "the plan")
    undone = [(compaction.requested, "commit"), (second.requested, "deltacommit")]
    assert [(each["commitTime"], each["action"]) for each in plan["instantsToRollback"]] == undone
    assert (plan["savepointToRestoreTimestamp"], plan["version"]) == (first.requested, 2)
    record = decode_record(table.context.storage.get(f"{FOLDER}/{done.file_name}"), "the restore")
    assert record["startRestoreTime"] == done.requested
    assert record["instantsToRollback"] == [requested for requested, _ in undone]
    rolled_back = [each for some in record["hoodieRestoreMetadata"].values() for each in some]
    assert sum(each["totalFilesDeleted"] for each in rolled_back) == 2


def test_what_cannot_be_restored_is_refused(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "a")))
    with pytest.raises(BadInput, match="the table has no savepoint"):
        table.restore()
    old = table.savepoint()
    assert table.restore() is None
    table.upsert(batch(("k1", 2, "b")))
    new = table.savepoint()
    with pytest.raises(BadInput, match=f"newer states are pinned as well: {new.requested}"):
        table.restore(old)
    with pytest.raises(BadInput, match="name one of them"):
        table.restore(tick(99))
