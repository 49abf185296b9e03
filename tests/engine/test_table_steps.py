"""The accesses of each operation, in order: what the simulator's mapping, and so every verdict, rests on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc import Table
from tests.builders.tables import batch, keys, make_table, tick

from .hooked import during, watched


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Rows of two file groups, a deleted one among them, in two commits."""
    made = make_table(tmp_path, buckets=2)
    made.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    made.delete(keys(("k1", 2)))
    return made


WORDS = (
    (r"^(acquire|release|take)$", r"\1"),
    (r"^list \.hoodie/timeline$", "list timeline"),
    (r"^list \.hoodie/\.nbcc/state$", "list checkpoints"),
    (r"^put .*\.(requested|inflight)$", r"put \1"),
    (r"^put \.hoodie/timeline/\d+_\d+\.\w+$", "put completed"),
    (r"^put [^.].*\.parquet$", "put base"),
    (r"^put [^.].*/\.[^/]*\.log\.[^/]*$", "put log"),
    (r"^not_before$|^get |^delete |\.temp/|partition_metadata$", ""),
)


def steps_of(calls: list[str]) -> list[str]:
    """Accesses in the words of the protocol; those that no other actor can see are left out."""
    return [word for call in calls if (word := _word(call))]


def _word(call: str) -> str:
    for pattern, word in WORDS:
        if found := re.search(pattern, call):
            return found.expand(word)
    raise AssertionError(f"no word for {call!r}")


PUBLISH = ["take", "put completed", "release"]


def test_upsert(table: Table) -> None:
    writer, calls = watched(table)
    writer.upsert(batch(("k1", 3, "a"), ("k2", 3, "b")))
    assert steps_of(calls) == [
        *["acquire", "list timeline", "take", "put requested", "release"],
        "put inflight",
        *["put log", "put log"],
        *["acquire", "list timeline", *PUBLISH],
    ]


def test_each_log_is_announced_by_a_marker_just_before_it(table: Table) -> None:
    writer, calls = watched(table)
    writer.upsert(batch(("k1", 3, "a"), ("k2", 3, "b")))
    puts = [call for call in calls if call.startswith("put ") and ".log." in call]
    assert [call.endswith(".marker.CREATE") for call in puts] == [True, False, True, False]
    for marker, log in zip(puts[::2], puts[1::2], strict=True):
        assert marker == f"put .hoodie/.temp/{tick(5)}/{log.removeprefix('put ')}.marker.CREATE"


def test_late_attempts_are_looked_for_under_the_lock_and_markers_forgotten_after_it(table: Table) -> None:
    writer, calls = watched(table)
    writer.upsert(batch(("k1", 3, "a")))
    [listed] = [place for place, call in enumerate(calls) if call == f"list .hoodie/.temp/{tick(5)}"]
    [deleted] = [place for place, call in enumerate(calls) if call.startswith(f"delete .hoodie/.temp/{tick(5)}/")]
    acquired = [place for place, call in enumerate(calls) if call == "acquire"]
    released = [place for place, call in enumerate(calls) if call == "release"]
    assert acquired[1] < listed < released[1] < deleted, "no other process may put a marker, so none is listed again"


def test_schedule_compaction(table: Table) -> None:
    planner, calls = watched(table)
    planner.schedule_compaction()
    assert steps_of(calls) == ["acquire", "list timeline", "take", "put requested", "release"]


def test_schedule_compaction_without_work_takes_no_time(table: Table) -> None:
    table.schedule_compaction()
    planner, calls = watched(table)
    assert planner.schedule_compaction() is None
    assert steps_of(calls) == ["acquire", "list timeline", "release"]


def test_run_compaction(table: Table) -> None:
    plan = table.schedule_compaction()
    runner, calls = watched(table)
    runner.run_compaction(plan)
    assert steps_of(calls) == [
        *["list timeline", "put inflight"],
        *["put base", "put base", "put log"],  # the deleted key's group is the second
        *["acquire", "list timeline", *PUBLISH],
        *["list checkpoints", "list timeline"],  # there are too few writes for a state checkpoint
    ]


def test_run_compaction_that_another_completed(table: Table) -> None:
    table.schedule_compaction()
    slow = during(table, ".parquet", table.run_compaction)
    runner, calls = watched(slow)
    runner.run_compaction()
    assert steps_of(calls)[-5:-2] == ["acquire", "list timeline", "release"]
    assert [call for call in calls if call.startswith("delete") and call.endswith(".parquet")]


def test_snapshot_lists_twice_and_then_only_gets(table: Table) -> None:
    reader, calls = watched(table)
    reader.snapshot()
    lists = [call for call in calls if not call.startswith("get ")]
    assert lists == ["list .hoodie/.nbcc/state", *["list .hoodie/timeline"] * 2]


def test_no_read_of_our_tables_lists_a_directory_of_data(table: Table) -> None:
    instant = table.compact()
    assert instant is not None
    reader, calls = watched(table)
    reader.snapshot()
    reader.read_optimized()
    reader.as_of(instant)
    reader.incremental(tick(2))
    reader.changes(tick(2))
    reader.file_slices()
    lists = {call for call in calls if call.startswith("list")}
    assert lists == {"list .hoodie/timeline", "list .hoodie/.nbcc/state"}
    assert not [call for call in calls if call.startswith(("put", "delete"))]
