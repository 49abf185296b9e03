"""Reading through the data source, and both ways on Spark: what is compared with is `Table`, asked the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import datasource as ds

from nbcc.engine.data_source import NbccSource
from nbcc.engine.data_source.filters import condition_of
from nbcc.engine.data_source.options import read_options, write_options
from nbcc.engine.errors import BadInput
from nbcc.engine.schema import to_spark
from nbcc.engine.table import Table
from tests.builders.data_source import CREATE, SCHEMA, by_table, deleted, load, plain
from tests.builders.tables import table_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def written(tmp_path: Path) -> Table:
    path = tmp_path / "t"
    first = table_of(SCHEMA, *[(f"k{i}", "pq"[i % 2], i, f"v{i}") for i in range(10)])
    table = by_table(path, first, "EVENT_TIME_ORDERING")
    table.compact()
    table.upsert(deleted([("k1", "q", 20, "new"), ("k2", "p", 20, ""), ("k11", "q", 1, "new")], [False, True, False]))
    return table


def test_every_query_is_what_the_table_answers(written: Table, tmp_path: Path) -> None:
    path = tmp_path / "t"
    first, _, last = (instant.completed for instant in written.timeline())
    assert first is not None
    assert last is not None

    def same(found: list[dict[str, Any]], wanted: pa.Table) -> bool:
        return sorted(map(repr, found)) == sorted(map(repr, wanted.to_pylist())) and len(found) > 0

    query = "hoodie.datasource.query.type"
    window = {query: "incremental", "hoodie.datasource.read.begin.instanttime": first}
    assert same(load(path), written.snapshot())
    assert same(load(path, **{"as.of.instant": first}), written.as_of(first))
    assert same(load(path, **{query: "read_optimized"}), written.read_optimized())
    assert same(load(path, **window), written.incremental(first))
    ended = {**window, "hoodie.datasource.read.end.instanttime": last}
    assert same(load(path, **ended), written.incremental(first, last))
    changes = {**window, "hoodie.datasource.query.incremental.format": "cdc"}
    assert same(load(path, **changes), written.changes(first))


def test_columns_come_in_the_order_asked_for(written: Table, tmp_path: Path) -> None:
    found = load(tmp_path / "t", columns="v, id")
    assert [list(row) for row in found] == [["v", "id"]] * len(written.snapshot())
    with pytest.raises(BadInput, match="did you mean 'part'"):
        load(tmp_path / "t", columns="id,prat")


def test_what_is_read_is_settled_at_load(written: Table, tmp_path: Path) -> None:
    source = NbccSource({"path": str(tmp_path / "t")})
    schema = source.schema()
    written.upsert(table_of(SCHEMA, ("later", "p", 1, "x")))
    written.compact()
    reader: Any = source.reader(schema)
    found = [row["id"] for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    assert "later" not in found
    assert len(found) == len(written.snapshot()) - 1


def test_a_key_and_a_partition_leave_one_file_group(written: Table, tmp_path: Path) -> None:
    def groups(*filters: ds.Filter) -> int:
        source = NbccSource({"path": str(tmp_path / "t")})
        reader: Any = source.reader(source.schema())
        assert list(reader.pushFilters([*filters])) == []
        return len(reader.partitions())

    key, part = ds.EqualTo(("id",), "k3"), ds.EqualTo(("part",), "q")
    assert [groups(), groups(key), groups(part), groups(key, part)] == [3, 1, 2, 1]
    assert plain(load(tmp_path / "t", [key])) == [("k3", "q", 3, "v3")]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"as.of.instant": "20991231235959999"}, "has not happened yet"),
        ({"as.of.instant": "2001-11-21 00:00:00"}, "the first commit completed at"),
        ({"as.of.instant": "soon"}, "not a time"),
        ({"hoodie.datasource.query.type": "incremental"}, "begin.instanttime is missing"),
        ({"hoodie.datasource.query.type": "changes"}, "use snapshot or read_optimized or incremental"),
        ({"hoodie.datasource.read.begin.instanttime": "0"}, "query.type=incremental"),
        ({"hoodie.datasource.query.typ": "snapshot"}, "did you mean hoodie.datasource.query.type"),
    ],
)
def test_reads_that_cannot_be_are_refused(written: Table, tmp_path: Path, options: dict[str, str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        load(tmp_path / "t", **options)


KINDS = pa.schema([("n", pa.int32()), ("s", pa.string()), ("d", pa.date32()), ("b", pa.bool_()), ("f", pa.float64())])


def test_what_means_something_else_in_spark_stays_there() -> None:
    number, fraction = ("n",), ("f",)
    stays = [
        ds.EqualTo(fraction, 1.0), ds.Not(ds.GreaterThan(fraction, 0.5)), ds.EqualTo(number, 2**40),
        ds.EqualTo(number, None), ds.EqualTo(number, True), ds.In(number, (1, None)), ds.EqualTo(("n", "x"), 1),
    ]  # fmt: skip
    assert [condition_of(each, KINDS) for each in stays] == [None] * len(stays)


# On Spark.

FILTERS = (
    "id = 'k3' AND part = 'q'",
    "ts > 3 AND ts <= 20 AND v IS NOT NULL",
    "id IN ('k1', 'k11', 'none') AND v <=> 'new'",
    "NOT (id IN ('k1', 'k3')) AND part <> 'p'",
    "id LIKE 'k1%' AND v LIKE '%w' AND id NOT LIKE '%3%'",
)


def same_rows(left: DataFrame, right: DataFrame) -> bool:
    return sorted(map(repr, left.collect())) == sorted(map(repr, right.collect()))


def test_spark_finds_reads_and_writes_the_table(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    values = [(f"k{i}", "pq"[i % 2], i, f"v{i}") for i in range(30)]
    rows = spark.createDataFrame([*values, ("k1", "q", 99, "newer")], to_spark(SCHEMA)).repartition(3)
    rows.write.format("nbcc").mode("append").options(**CREATE).save(path)
    table = Table.open(spark, path)
    assert [(i.action, i.state) for i in table.timeline()] == [("deltacommit", "completed")]
    assert max(len(piece.logs) for piece in table.file_slices()) > 1
    wanted = plain([dict(zip(SCHEMA.names, row, strict=True)) for row in [*values, ("k1", "q", 99, "newer")]])
    wanted.remove(("k1", "q", 1, "v1"))
    assert plain([row.asDict() for row in table.snapshot().collect()]) == wanted
    found = spark.read.format("nbcc").load(path)
    assert same_rows(found, table.snapshot())
    bad = spark.createDataFrame([("x", "p", 1, "x"), (None, "p", 1, "x")], to_spark(SCHEMA)).repartition(2)
    with pytest.raises(Exception, match="null in id"):
        bad.write.format("nbcc").mode("append").save(path)
    assert len(table.timeline()) == 1
    assert found.count() == 30


@pytest.mark.parametrize("pushed", ["true", "false"])
def test_filters_handed_down_keep_what_spark_keeps(
    pushed: str, spark: SparkSession, written: Table, tmp_path: Path
) -> None:
    """A session in which filters are not pushed down reads too: Spark refuses most readers that implement them."""
    name = "spark.sql.python.filterPushdown.enabled"
    path = str(tmp_path / "t")
    snapshot = spark.createDataFrame(written.snapshot().to_pylist())
    before = spark.conf.get(name, "false")
    spark.conf.set(name, pushed)
    try:
        found = spark.read.format("nbcc").load(path)
        kept = {text: plain([row.asDict() for row in found.where(text).collect()]) for text in FILTERS}
    finally:
        spark.conf.set(name, before or "false")
    rows = plain([row.asDict() for row in snapshot.collect()])
    assert len(rows) == 10
    assert kept == {text: plain([row.asDict() for row in snapshot.where(text).collect()]) for text in FILTERS}
    assert all(0 < len(each) < 10 for each in kept.values())


@pytest.mark.parametrize("option", ["timestampAsOf", "timestampasof", "versionAsOf", "versionasof"])
def test_the_option_of_another_format_is_answered_with_ours(option: str) -> None:
    with pytest.raises(BadInput, match=r"use as\.of\.instant with a completion time"):
        read_options({"path": "t", option: "2026-01-01"})


@pytest.mark.parametrize(
    ("options", "remedy"),
    [({"path": "lake/*"}, "is a pattern: give the folder of one"), ({"paths": '["a", "b"]'}, "a read has one table")],
)
def test_a_read_of_several_tables_is_answered(options: dict[str, str], remedy: str) -> None:
    with pytest.raises(BadInput, match=remedy):
        read_options(options)


def test_storage_options_travel_with_a_read_and_a_write() -> None:
    given = {"path": "t", "storage.durable": "false", "Storage.Region": "r"}
    assert read_options(given).storage == write_options(given).storage == {"durable": "false", "Region": "r"}


def test_a_wrong_storage_option_is_named_and_its_value_is_not(tmp_path: Path) -> None:
    for path in (str(tmp_path), "s3://b/t"):
        with pytest.raises(BadInput, match="storage option 'regio'") as raised:
            NbccSource({"path": path, "storage.regio": "s3cr3t"}).schema()
        assert "s3cr3t" not in str(raised.value)


def test_sql_says_what_to_use_instead(spark: SparkSession, written: Table, tmp_path: Path) -> None:
    """A view reads and, with named columns, inserts. What Spark refuses itself: docs/from-hudi-to-nbcc.md."""
    path = tmp_path / "t"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW trips USING nbcc OPTIONS (path '{path}')")
    before = spark.table("trips").count()
    spark.sql("INSERT INTO trips (id, part, ts, v) VALUES ('new', 'p', 9L, 'x')")
    assert spark.read.format("nbcc").load(str(path)).count() == before + 1
    with pytest.raises(AnalysisException, match=r"create a table in Spark's catalog .*TEMPORARY VIEW") as no:
        spark.sql(f"CREATE TABLE trips_in_catalog USING nbcc LOCATION '{path}'")
    assert "owner" not in str(no.value).partition("Asked to")[2]
