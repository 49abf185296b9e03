"""Cleaning: what it deletes, what stays readable, and the error of a reader behind the horizon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc import Table
from nbcc.engine.errors import BadInput, Cleaned
from nbcc.engine.files.slices import FileSlice
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.container import decode_record
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.hudi import same
from tests.builders.tables import batch, data_files, keys, make_table, state, tick

from .hooked import during


def named(slices: tuple[FileSlice, ...]) -> set[str]:
    """The data files that slices list."""
    return {f.path for piece in slices for f in (piece.base, *piece.tombstones, *piece.logs) if f is not None}


def compacted_thrice(folder: Path) -> tuple[Table, list[Instant]]:
    """Three base files, a delete kept in the first one's tombstones, and a log behind the last."""
    table, writes = make_table(folder), []
    for number in range(3):
        writes.append(table.upsert(batch(("k1", number, f"{number}"), ("k2", number, f"{number}"))))
        if not number:
            table.delete(keys(("k2", 0)))
        table.compact()
    return table, [*writes, table.upsert(batch(("k3", 9, "9")))]


def test_files_go_and_every_state_since_the_horizon_stays(tmp_path: Path) -> None:
    table, writes = compacted_thrice(tmp_path)
    before = {write: state(table.as_of(write)) for write in writes}
    everything = data_files(table)

    done = table.clean(retained=2)

    assert done is not None
    assert (done.action, done.state) == ("clean", "completed")
    assert data_files(table) < everything
    assert named(table.file_slices()) == data_files(table)
    for write in writes[2:]:
        assert state(table.as_of(write)) == before[write]
        assert len(table.incremental(write)) == len(table.incremental(write))
    assert same(table)
    for write in writes[:2]:
        with pytest.raises(Cleaned, match=f"cleaning has removed files from before {writes[2].completed}"):
            table.as_of(write)
        with pytest.raises(Cleaned):
            table.changes(write)
    assert table.clean(retained=2) is None  # nothing is left to go


@pytest.mark.parametrize(
    ("policy", "retained", "bases"),
    [
        ("KEEP_LATEST_COMMITS", 1, 1),
        ("KEEP_LATEST_COMMITS", 3, 3),
        ("KEEP_LATEST_FILE_VERSIONS", 1, 1),
        ("KEEP_LATEST_FILE_VERSIONS", 2, 2),
        ("KEEP_LATEST_FILE_VERSIONS", 3, 3),
        ("KEEP_LATEST_BY_HOURS", 1, 3),
        ("KEEP_LATEST_BY_HOURS", 10_000_000, 3),
        ("KEEP_LATEST_BY_HOURS", 10**15, 3),
    ],
)
def test_a_policy_keeps_what_it_says(policy: Any, retained: int, bases: int, tmp_path: Path) -> None:
    table, _ = compacted_thrice(tmp_path)

    table.clean(policy, retained)

    assert sum(path.endswith(".parquet") for path in data_files(table)) == bases


@pytest.mark.parametrize("hours", [500_000_000, 10**11, 10**30])
def test_hours_from_before_all_calendars_give_nothing_up(hours: int, tmp_path: Path) -> None:
    table, _ = compacted_thrice(tmp_path / "t")
    assert table.clean(policy="KEEP_LATEST_BY_HOURS", retained=hours) is None


def test_the_horizon_is_there_before_the_first_file_goes(tmp_path: Path) -> None:
    table, writes = compacted_thrice(tmp_path)
    everything = data_files(table)

    planned = table.run("schedule_clean", retained=1)

    assert data_files(table) == everything
    with pytest.raises(Cleaned):
        table.as_of(writes[0])
    assert table.run("schedule_clean", retained=1) is None  # one at a time
    assert table.run("run_clean", instant=planned) == table.run("run_clean", instant=planned)
    assert table.run("run_clean") is None


def test_a_clean_that_died_half_way_is_taken_up(tmp_path: Path) -> None:
    table, writes = compacted_thrice(tmp_path)
    table.run("schedule_clean", retained=1)
    table.context.storage.delete(min(data_files(table) - named(table.file_slices())))

    assert table.clean(retained=1) is not None
    assert named(table.file_slices()) == data_files(table)
    assert state(table.snapshot()) == state(table.as_of(writes[3]))


def test_a_reader_that_is_slower_than_a_clean_gets_an_error(tmp_path: Path) -> None:
    table, _ = compacted_thrice(tmp_path)

    def meanwhile() -> None:
        table.upsert(batch(("k1", 10, "10")))
        table.compact()
        table.upsert(batch(("k1", 11, "11")))
        table.clean(retained=1)

    with pytest.raises(Cleaned, match=r"the clean \d+ has deleted it: reads from before \d+ are not answered"):
        during(table, ".parquet", meanwhile, on="get").snapshot()


def test_a_pending_compaction_keeps_its_input(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "1")))
    plan = table.schedule_compaction()
    table.upsert(batch(("k1", 2, "2")))

    assert table.clean(retained=1) is None
    assert table.run_compaction(plan) is not None
    assert state(table.snapshot()) == {("k1", 2, "2")}


def test_a_pending_log_compaction_keeps_its_input_during_a_replace(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "1")))
    table.upsert(batch(("k2", 1, "1")))
    plan = table.schedule_log_compaction()
    table.insert_overwrite(batch(("k3", 1, "1")))
    table.upsert(batch(("k4", 1, "1")))

    assert table.clean(retained=1) is None
    assert table.run_log_compaction(plan) is not None
    assert table.clean(retained=1) is not None  # now its input goes, and what it made of it
    assert named(table.file_slices()) == data_files(table)
    assert state(table.snapshot()) == {("k3", 1, "1"), ("k4", 1, "1")}


def test_what_a_clean_left_for_a_log_compaction_goes_with_a_later_one(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in range(2):
        table.upsert(batch(("k1", number, "1")))
    table.schedule_log_compaction()
    table.insert_overwrite(batch(("k2", 1, "1")))
    table.insert_overwrite(batch(("k3", 1, "1")))

    assert table.clean(retained=1) is not None  # the first replace's file
    table.run_log_compaction()
    assert table.clean(retained=1) is not None
    assert named(table.file_slices()) == data_files(table)
    assert state(table.snapshot()) == {("k3", 1, "1")}


def test_the_files_say_to_hudi_what_it_expects(tmp_path: Path) -> None:
    table, writes = compacted_thrice(tmp_path)
    done = table.clean(retained=1)
    assert done is not None
    plan = decode_record(
        table.context.storage.get(f"{FOLDER}/{done.requested}.clean.requested"), "the plan of the clean"
    )
    record = decode_record(table.context.storage.get(f"{FOLDER}/{done.file_name}"), "the clean")

    assert plan["version"] == record["version"] == 2
    assert plan["earliestInstantToRetain"]["timestamp"] == record["earliestCommitToRetain"] == writes[3].requested
    (partition,) = plan["filePathsToBeDeletedPerPartition"]
    addresses = [file["filePath"] for file in plan["filePathsToBeDeletedPerPartition"][partition]]
    names = record["partitionMetadata"][partition]["successDeleteFiles"]
    assert [address.rpartition("/")[2] for address in addresses] == names
    assert all(address.startswith(table.context.storage.url) for address in addresses)
    assert record["totalFilesDeleted"] == len(names)


def test_what_cannot_be_cleaned_is_refused(tmp_path: Path) -> None:
    table, _ = compacted_thrice(tmp_path)
    with pytest.raises(BadInput, match="the policies are KEEP_LATEST_COMMITS, KEEP_LATEST_BY_HOURS"):
        table.run("clean", policy="KEEP_ALL")
    with pytest.raises(BadInput, match="at least the newest state of a table stays"):
        table.clean(retained=0)
    with pytest.raises(BadInput, match="the timeline has no clean with that requested time"):
        table.run("run_clean", instant=tick(1))
