"""The operations on Spark: DataFrames in, DataFrames out, the same answers as in one process."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from nbcc import BadInput, Table
from nbcc.engine.file_names import parse_log
from tests.builders.tables import batch, files, keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DDL = "id STRING, part STRING, ts BIGINT, a STRING"


def frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    return spark.createDataFrame(rows)


def state(rows: DataFrame) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in rows.select("id", "ts", "a").collect()}


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Table:
    return Table.create(
        spark, tmp_path / "t", DDL, record_key="id", ordering_fields="ts", partition_by="part", buckets=2
    )


def test_a_life_of_a_table(spark: SparkSession, table: Table) -> None:
    first = table.upsert(frame(spark, batch(("k1", 1, "a"), ("k2", 1, "b"), ("k3", 1, "c"))))
    table.upsert(frame(spark, batch(("k1", 2, "new"), ("k2", 0, "stale"))))
    gone = table.delete(frame(spark, keys(("k3", 4))))
    assert state(table.snapshot()) == {("k1", 2, "new"), ("k2", 1, "b")}
    plan = table.schedule_compaction()
    late = table.upsert(frame(spark, batch(("k3", 3, "late"), ("k4", 1, "d"))))
    done = table.run_compaction()
    assert plan is not None
    assert done is not None
    assert (done.requested, done.action) == (plan.requested, "commit")
    now = {("k1", 2, "new"), ("k2", 1, "b"), ("k4", 1, "d")}
    assert state(table.snapshot()) == now
    assert state(table.read_optimized()) == {("k1", 2, "new"), ("k2", 1, "b")}
    assert state(table.as_of(first)) == {("k1", 1, "a"), ("k2", 1, "b"), ("k3", 1, "c")}
    assert state(table.as_of(datetime.now(UTC))) == now
    written = table.incremental(gone).select("id", "ts", "a", "_hoodie_is_deleted").collect()
    assert {tuple(row) for row in written} == {("k3", 3, "late", False), ("k4", 1, "d", False)}
    deleted = table.incremental(first, gone).where("_hoodie_is_deleted").select("id", "ts", "part").collect()
    assert [tuple(row) for row in deleted] == [("k3", 4, "p")]
    changed = table.changes(first).select("op", "completed", "before.a", "after.a").collect()
    assert {(row[0], row[2], row[3]) for row in changed} == {("u", "a", "new"), ("d", "c", None), ("i", None, "d")}
    assert late.completed in {row[1] for row in changed}
    assert table.compact() is not None
    assert state(table.snapshot()) == now == state(Table.open(spark, table.context.storage.url).snapshot())


def test_several_tasks_share_a_file_group(spark: SparkSession, tmp_path: Path) -> None:
    table = Table.create(
        spark, tmp_path / "t", DDL, record_key="id", ordering_fields="ts", buckets=2,
        options={"hoodie.upsert.shuffle.parallelism": "6"},
    )  # fmt: skip
    rows = batch(*((f"k{number % 40}", number, "a") for number in range(80)))
    first = table.upsert(frame(spark, rows), batch_id="b")
    logs = [parse_log(Path(stat.path).name) for stat in table.context.commits.commit(first).stats]
    assert sorted((log.file_id[:8], log.version) for log in logs if log) == [
        (f"0000000{bucket}", version) for bucket in range(2) for version in (1, 1001, 2001)
    ]
    latest = {(f"k{number}", 40 + number, "a") for number in range(40)}
    assert state(table.snapshot()) == latest
    assert table.upsert(frame(spark, rows), batch_id="b") == first
    assert table.compact() is not None
    table.delete(frame(spark, keys(("k7", 90))))
    assert state(Table.open(spark, tmp_path / "t").snapshot()) == latest - {("k7", 47, "a")}


def test_what_spark_wrote_is_read_without_spark_and_back(spark: SparkSession, table: Table) -> None:
    table.upsert(frame(spark, batch(("k1", 1, "a"), ("k2", 1, "b"))))
    alone = Table.open(None, table.context.storage.url)
    alone.upsert(batch(("k1", 2, "new")))
    table.delete(frame(spark, keys(("k2", 2))))
    rows = {(row["id"], row["ts"], row["a"]) for row in alone.snapshot().to_pylist()}
    assert rows == state(table.snapshot()) == {("k1", 2, "new")}


def test_composite_keys_without_partition(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    fields = (("id", StringType()), ("part", StringType()), ("ts", LongType()), ("a", StringType()))
    struct = StructType([StructField(name, kind) for name, kind in fields])
    table = Table.create(spark, tmp_path / "t", struct, record_key=["id", "part"], ordering_fields=["ts"], buckets=3)
    table.upsert(frame(spark, batch(*((f"k{n}", 1, "a") for n in range(20)))))
    table.upsert(frame(spark, batch(*((f"k{n}", 2, "b") for n in range(0, 20, 2)))))
    table.delete(frame(spark, keys(("k1", 1))))
    table.compact()
    expected = {(f"k{n}", 1 + (n + 1) % 2, "ab"[(n + 1) % 2]) for n in range(20)} - {("k1", 1, "a")}
    assert state(table.snapshot()) == expected
    named = {row[0] for row in table.snapshot().select("_hoodie_record_key").collect()}
    assert "id:k0,part:p" in named


def test_an_empty_table_has_columns(table: Table) -> None:
    assert table.snapshot().columns[5:] == ["id", "part", "ts", "a"]
    assert table.snapshot().count() == 0
    assert table.settled() is None


def test_an_empty_batch_is_a_commit(spark: SparkSession, table: Table) -> None:
    instant = table.upsert(frame(spark, batch(("k1", 1, "a"))).where("false"))
    assert table.settled() == instant.completed
    assert table.snapshot().count() == 0


REFUSED = {
    "a null key": ([(None, "p", 1, "a")], DDL, "1 row has a null in id"),
    "a conflict": ([("k1", "p", 1, "a"), ("k1", "p", 1, "b")], DDL, "1 row shares key and ordering value"),
    "a null ordering": ([("k1", "p", None, "a")], DDL, "1 row has no value in the ordering column ts"),
    "another type": ([("k1", "p", "1", "a")], DDL.replace("BIGINT", "STRING"), "'ts' is string, the table's is int64"),
    "a missing column": ([("k1", "p", "x")], "id STRING, part STRING, a STRING", "it lacks 'ts'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_publishes_nothing(case: str, spark: SparkSession, table: Table) -> None:
    rows, ddl, message = REFUSED[case]
    before = files(table)
    with pytest.raises(BadInput, match=message):
        table.upsert(spark.createDataFrame(rows, ddl))
    assert files(table) == before


def test_rows_of_the_other_kind_are_refused(spark: SparkSession, table: Table) -> None:
    with pytest.raises(BadInput, match="the table was opened with Spark"):
        table.upsert(batch(("k1", 1, "a")))
    with pytest.raises(BadInput, match="the table was opened without Spark"):
        Table.open(None, table.context.storage.url).upsert(frame(spark, batch(("k1", 1, "a"))))


def test_ddl_that_is_none_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="create a table with the columns 'id STRNG'"):
        Table.create(spark, tmp_path / "t", "id STRNG", record_key="id")
