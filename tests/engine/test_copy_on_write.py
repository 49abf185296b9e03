"""Copy-on-write tables: every read, what hudi-rs and others make of them, two writers, and Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.errors import Conflict, Unsupported
from tests.builders.concurrent_writes import overtaken
from tests.builders.hudi import same
from tests.builders.tables import batch, keys, make_table, state

OPTIMISTIC: dict[str, Any] = {"table_type": "COPY_ON_WRITE", "concurrency_mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return make_table(tmp_path, **OPTIMISTIC)


def marked(rows: pa.Table) -> set[tuple[Any, ...]]:
    return {(row["id"], row["ts"], row["_hoodie_is_deleted"]) for row in rows.to_pylist()}


def test_every_read_of_a_history(table: Table) -> None:
    first = table.upsert(batch(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1")))
    table.upsert(batch(("a", 2, "2"), ("b", 0, "too old"), ("d", 2, "2")))
    last = table.delete(keys(("c", 2)))

    assert state(table.snapshot()) == state(table.read_optimized()) == {("a", 2, "2"), ("b", 1, "1"), ("d", 2, "2")}
    assert state(table.as_of(first)) == {("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1")}
    assert marked(table.incremental(first, last)) == {("a", 2, False), ("c", None, True), ("d", 2, False)}
    assert sorted(row["op"] for row in table.changes(first, last).to_pylist()) == ["d", "i", "u"]
    assert [(i.action, i.state) for i in table.timeline()] == [("commit", "completed")] * 3
    assert all(piece.base and not piece.logs for piece in table.file_slices())
    assert table.compact() is None


@pytest.mark.parametrize("shape", [{}, {"partition_by": None}, {"buckets": 4}, {"merge_mode": "COMMIT_TIME_ORDERING"}])
def test_hudi_rs_reads_every_state_alike(shape: dict[str, Any], tmp_path: Path) -> None:
    table = make_table(tmp_path, **OPTIMISTIC, **shape)
    writes: tuple[Callable[[], object], ...] = (
        lambda: table.upsert(batch(("a", 1, "1"), ("b", 1, "1"))),
        lambda: table.upsert(batch(("b", 2, "2"), ("c", 2, "2"))),
        lambda: table.delete(keys(("a", 3))),
        lambda: table.bulk_insert(batch(("d", 4, "4"))),
        lambda: table.delete(keys(("b", 5), ("c", 5), ("d", 5))),
    )
    for write in writes:
        write()
        assert same(table)


def test_of_two_writers_of_one_file_the_second_gives_way_and_merges_when_it_tries_again(table: Table) -> None:
    with pytest.raises(Conflict):
        overtaken(table, lambda: table.upsert(batch(("a", 1, "theirs")))).upsert(batch(("b", 1, "ours")))
    overtaken(table, lambda: table.upsert(batch(("a", 2, "theirs")))).upsert(batch(("b", 1, "ours")), retries=1)
    assert state(table.snapshot()) == {("a", 2, "theirs"), ("b", 1, "ours")}


def test_a_delete_leaves_no_tombstone(table: Table) -> None:
    """What Hudi does, too: no file has a place for a tombstone."""
    table.upsert(batch(("a", 1, "1")))
    table.delete(keys(("a", 3)))
    table.upsert(batch(("a", 2, "older")))
    assert state(table.snapshot()) == {("a", 2, "older")}


def test_who_opens_it_as_non_blocking_may_read_and_not_write(table: Table) -> None:
    opened = Table(table.context, replace(table.config, concurrency_mode="NON_BLOCKING_CONCURRENCY_CONTROL"))
    with pytest.raises(Unsupported, match="writers that never wait for each other need log files"):
        opened.upsert(batch(("a", 1, "1")))


def test_spark_writes_it_both_ways(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    table = Table.create(
        spark, path, "id string, ts bigint, v string", record_key="id", ordering_fields="ts", buckets=2,
        table_type="COPY_ON_WRITE",
    )  # fmt: skip
    table.upsert(spark.createDataFrame([("a", 1, "1"), ("b", 1, "1")], "id string, ts bigint, v string"))
    rows = spark.createDataFrame([("b", 2, "2"), ("c", 1, "2")], "id string, ts bigint, v string").repartition(2)
    rows.write.format("nbcc").mode("append").save(path)

    found = spark.read.format("nbcc").load(path).select("id", "v").collect()
    assert {tuple(row) for row in found} == {("a", "1"), ("b", "2"), ("c", "2")}
    assert {instant.action for instant in table.timeline()} == {"commit"}
    assert not list((tmp_path / "s").rglob(".*.log.*"))
