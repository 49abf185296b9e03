"""Insert overwrite and delete partition: what is hidden, what survives, and what is left when one fails half way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import BadInput, Conflict, Table
from nbcc.engine.errors import Unsupported
from nbcc.engine.timeline import Instant

from .hooked import during
from .table_samples import SCHEMA, batch, files, make_table, state, tick, window
from .test_rollback import Died, Hearts
from .test_table_hudi_rs import same

BASE = ".parquet"
OLD = (("k1", 5, "old"), ("k2", 5, "old"), ("k3", 5, "old"))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = make_table(tmp_path, buckets=2)
    made.upsert(batch(*OLD))
    return made


def elsewhere(*rows: tuple[Any, ...]) -> pa.Table:
    """Rows (id, ts, a) of partition q."""
    named = [dict(zip(("id", "part", "ts", "a"), (r[0], "q", *r[1:]), strict=True)) for r in rows]
    return pa.Table.from_pylist(named, SCHEMA)


def test_new_rows_take_the_place_of_all_older_ones_whatever_their_ordering(table: Table) -> None:
    table.upsert(elsewhere(("k9", 1, "other")))
    before = table.settled()
    instant = table.insert_overwrite(batch(("k1", 1, "new")))
    assert (instant.action, instant.state) == ("commit", "completed")
    assert state(table.snapshot()) == {("k1", 1, "new"), ("k9", 1, "other")}
    assert state(table.read_optimized()) == {("k1", 1, "new")}
    assert state(table.as_of(before or "")) == {*OLD, ("k9", 1, "other")}
    assert same(table)


def test_a_window_and_a_change_log_across_it(table: Table) -> None:
    start = table.settled() or ""
    table.upsert(batch(("k2", 9, "hidden soon")))
    instant = table.insert_overwrite(batch(("k1", 1, "new")))
    table.upsert(batch(("k3", 1, "after")))
    assert window(table.incremental(start)) == {("k1", 1, "new", False), ("k3", 1, "after", False)}
    assert window(table.incremental(start, instant)) == {("k1", 1, "new", False)}
    ops = {(row["op"], (row["before"] or row["after"])["id"]) for row in table.changes(start).to_pylist()}
    assert ops == {("u", "k1"), ("d", "k2"), ("u", "k3")}


def test_a_write_that_completes_meanwhile_survives_and_is_compacted_onto_the_new_rows(table: Table) -> None:
    beside = during(table, BASE, lambda: table.upsert(batch(("k2", 1, "beside"), ("k4", 1, "beside"))))
    beside.insert_overwrite(batch(("k1", 1, "new")))
    rows = {("k1", 1, "new"), ("k2", 1, "beside"), ("k4", 1, "beside")}
    assert state(table.snapshot()) == rows
    assert same(table)
    assert table.compact() is not None
    assert state(table.snapshot()) == rows
    assert same(table)


def test_while_it_is_pending_nothing_changes_and_nobody_else_carries_it_out(table: Table) -> None:
    seen: list[Any] = []

    def look() -> None:
        seen.extend((state(table.snapshot()), table.run_compaction(), table.compact()))
        with pytest.raises(BadInput, match="no compaction with that requested time"):
            table.run_compaction(tick(3))
        with pytest.raises(Conflict, match=r"the plan 2026\d+ is pending in p"):
            table.delete_partition(["part=p"] if table.config.hive_style else ["p"])

    during(table, BASE, look).insert_overwrite(batch(("k1", 1, "new")))
    assert seen == [set(OLD), None, None]
    assert state(table.snapshot()) == {("k1", 1, "new")}


def test_a_partition_is_deleted_and_written_again(table: Table) -> None:
    path = "part=p" if table.config.hive_style else "p"
    table.upsert(elsewhere(("k9", 1, "other")))
    table.delete_partition([path])
    assert state(table.snapshot()) == {("k9", 1, "other")}
    assert same(table)
    table.upsert(batch(("k1", 1, "again")))
    assert state(table.snapshot()) == {("k9", 1, "other"), ("k1", 1, "again")}
    assert same(table)
    with pytest.raises(BadInput, match=r"the table has .*did you mean") as refused:
        table.delete_partition([f"{path}x"])
    assert refused.value.remedy == f"did you mean {path!r}"


def test_named_partitions_are_emptied_and_others_refused(table: Table) -> None:
    path = "part=p" if table.config.hive_style else "p"
    with pytest.raises(BadInput, match=r"there are rows of .*which is none of them"):
        table.insert_overwrite(elsewhere(("k9", 1, "other")), partitions=[path])
    assert state(table.snapshot()) == set(OLD)
    assert [i.state for i in table.timeline()] == ["completed"]
    table.insert_overwrite(batch(), partitions=[path])
    assert state(table.snapshot()) == set()


def test_a_table_without_partitions_is_overwritten_whole(tmp_path: Path) -> None:
    table = make_table(tmp_path, partition_by=None, buckets=4)
    table.upsert(batch(*((f"k{n}", 5, "old") for n in range(20))))
    table.insert_overwrite(batch(("k1", 1, "new")))
    assert state(table.snapshot()) == {("k1", 1, "new")}
    assert same(table)


def test_one_that_fails_takes_everything_back(table: Table) -> None:
    there = files(table)
    with pytest.raises(BadInput):
        table.insert_overwrite(batch(("k1", None, "no ordering value")))
    assert [path for path in files(table) if path not in there and "metadata" not in path] == []
    assert state(table.snapshot()) == set(OLD)


def test_one_that_died_is_rolled_back_and_its_barrier_with_it(table: Table) -> None:
    hearts = Hearts()
    table = Table(replace(table.context, own_hearts=hearts), table.config)

    def die() -> None:
        table.upsert(batch(("k2", 9, "beside")))
        raise Died

    with pytest.raises(Died):
        during(table, BASE, die).insert_overwrite(batch(("k1", 1, "new")))
    rows = {("k1", 5, "old"), ("k2", 9, "beside"), ("k3", 5, "old")}
    assert state(table.snapshot()) == rows
    assert table.rollback() == ()  # its heart beats as far as anybody knows
    (pending,) = [i for i in table.timeline() if i.state != "completed"]
    hearts.beating.clear()
    (done,) = table.rollback()
    assert done.action == "rollback"
    assert Instant(pending.requested, "compaction", pending.state) not in table.timeline()
    assert not [path for path in files(table) if pending.requested in path]
    assert state(table.snapshot()) == rows
    assert table.compact() is not None
    assert state(table.snapshot()) == rows


def test_a_clean_counts_it_as_a_write_and_takes_what_it_has_hidden(table: Table) -> None:
    table.insert_overwrite(batch(("k1", 1, "new")))
    last = table.insert_overwrite(batch(("k2", 1, "newer")))
    hidden = [path for path in files(table) if tick(1) in path and ".log." in path]
    assert hidden
    assert table.clean(retained=1) is not None
    assert not set(hidden) & set(files(table))
    assert state(table.as_of(last)) == {("k2", 1, "newer")}


def test_copy_on_write_is_refused(tmp_path: Path) -> None:
    table = make_table(tmp_path, table_type="COPY_ON_WRITE", concurrency_mode="SINGLE_WRITER")
    with pytest.raises(Unsupported, match="the table is COPY_ON_WRITE"):
        table.insert_overwrite(batch(("k1", 1, "a")))
