"""Bulk insert: base files where a group begins, logs where it has begun, and never a row of another that it hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc import BadInput, Conflict, Table
from tests.builders.hudi import same
from tests.builders.tables import batch, files, keys, make_table, state, tick, window

from .hooked import during

BASE = ".parquet"


def shapes(table: Table) -> list[tuple[bool, int]]:
    """Of each slice, whether it has a base file, and how many logs."""
    return [(piece.base is not None, len(piece.logs)) for piece in table.file_slices()]


def test_it_makes_base_files_of_the_best_row_a_key(table: Table) -> None:
    instant = table.bulk_insert(batch(("k1", 1, "old"), ("k1", 2, "new"), ("k2", 1, "b")))
    assert instant.action == "deltacommit"
    assert shapes(table) == [(True, 0)]
    rows = {("k1", 2, "new"), ("k2", 1, "b")}
    assert state(table.snapshot()) == state(table.read_optimized()) == state(table.as_of(instant)) == rows
    assert window(table.incremental(tick(1))) == {(*row, False) for row in rows}
    assert {row["op"] for row in table.changes(tick(1)).to_pylist()} == {"i"}


def test_writes_and_a_compaction_go_on_from_it(table: Table) -> None:
    table.bulk_insert(batch(("k1", 1, "a"), ("k2", 5, "b"), ("k3", 1, "c")))
    table.upsert(batch(("k1", 2, "new"), ("k2", 4, "stale")))
    table.delete(keys(("k3", 1)))
    rows = {("k1", 2, "new"), ("k2", 5, "b")}
    assert state(table.snapshot()) == rows
    assert same(table)
    table.compact()
    assert shapes(table) == [(True, 2), (True, 0)]
    assert state(table.snapshot()) == rows
    assert same(table)


def test_into_a_group_that_has_files_it_writes_logs(table: Table) -> None:
    table.upsert(batch(("k1", 3, "a")))
    table.bulk_insert(batch(("k1", 2, "older"), ("k2", 1, "b")))
    assert shapes(table) == [(False, 2)]
    assert state(table.snapshot()) == {("k1", 3, "a"), ("k2", 1, "b")}


def test_of_several_groups_each_gets_what_it_may(tmp_path: Path) -> None:
    table = make_table(tmp_path, partition_by=None, buckets=8)
    table.upsert(batch(("k1", 1, "a")))
    table.bulk_insert(batch(*((f"k{n}", 2, "b") for n in range(30))))
    found = shapes(table)
    assert found.count((False, 2)) == 1
    assert found.count((True, 0)) == len(found) - 1 > 3
    assert state(table.snapshot()) == {(f"k{n}", 2, "b") for n in range(30)}


@pytest.mark.parametrize("faster", ["upsert", "bulk_insert"])
def test_a_write_that_was_faster_in_a_new_group_is_not_hidden(table: Table, faster: str) -> None:
    slow = during(table, BASE, lambda: table.run(faster, data=batch(("k1", 1, "fast"))))
    with pytest.raises(Conflict, match="another write has completed in 1 of its 1 new file groups") as refused:
        slow.bulk_insert(batch(("k2", 1, "slow")))
    assert refused.value.remedy.startswith("run it again")
    assert state(table.snapshot()) == {("k1", 1, "fast")}
    assert [i.state for i in table.timeline()] == ["completed"]
    assert not [path for path in files(table) if tick(1) in path and path != "p/.hoodie_partition_metadata"]
    table.bulk_insert(batch(("k2", 1, "slow")))
    assert state(table.snapshot()) == {("k1", 1, "fast"), ("k2", 1, "slow")}


def test_a_write_that_completes_after_it_is_merged_onto_it(tmp_path: Path) -> None:
    table = make_table(tmp_path, merge_mode="COMMIT_TIME_ORDERING")
    late = during(table, ".log.", lambda: table.bulk_insert(batch(("k1", 9, "bulk"), ("k2", 9, "bulk"))))
    late.upsert(batch(("k1", 1, "late")))
    assert shapes(table) == [(True, 1)]
    assert state(table.snapshot()) == {("k1", 1, "late"), ("k2", 9, "bulk")}
    table.compact()
    assert state(table.snapshot()) == {("k1", 1, "late"), ("k2", 9, "bulk")}


def test_deletes_are_refused(table: Table) -> None:
    rows = batch(("k1", 1, None), ("k2", 1, "b")).append_column("_hoodie_is_deleted", [[True, False]])
    with pytest.raises(BadInput, match="1 row has _hoodie_is_deleted set"):
        table.bulk_insert(rows)
    assert table.timeline() == ()
