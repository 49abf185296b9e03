"""The verbs of `Table`, and a view in SQL, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc import BadInput, Table, sql_view

pytestmark = pytest.mark.nightly
COLUMNS = "id string, ts long, fare double"


def fares(table: Table) -> dict[str, float]:
    return {row.id: row.fare for row in table.snapshot(["id", "fare"]).collect()}


def test_verbs_and_a_view(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql.functions import col, expr

    table = Table.create(spark, tmp_path / "t", COLUMNS, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(spark.createDataFrame([("a", 1, 1.0), ("b", 2, 2.0), ("c", 3, 3.0)], COLUMNS))
    assert table.update({"fare": expr("fare * 10")}, where=[("ts", ">=", 2)]) is not None
    assert table.update({"fare": 0.0}, where=[("ts", ">", 9)]) is None
    assert fares(table) == {"a": 1.0, "b": 20.0, "c": 30.0}
    source = spark.createDataFrame([("a", 9, 5.0), ("b", 9, -1.0), ("d", 9, 7.0), ("e", 9, -7.0)], COLUMNS)
    merge = (
        table.merge(source)
        .when_matched_delete(col("source.fare") < 0)
        .when_matched_update({"fare": col("target.fare") + col("source.fare")})
        .when_not_matched_insert(condition=col("source.fare") > 0)
    )
    assert merge.execute() is not None
    assert fares(table) == {"a": 6.0, "c": 30.0, "d": 7.0}
    with pytest.raises(BadInput, match="a row of the table matches several rows of the source"):
        table.merge(source.union(source)).when_matched_update().execute()
    table.delete(where=[("id", "=", "d")])
    table.upsert(spark.createDataFrame([("f", 1, 1.0), ("g", 1, 2.0), ("h", 1, 3.0)], COLUMNS))
    assert (table.count("ts = 1 AND fare > 1"), table.count(col("ts") == 1)) == (3, 4)
    table.update({"fare": 9.0}, where=col("id") == "g")
    table.delete(where="ts = 1 AND fare < 9 AND id > 'd'")
    assert fares(table) == {"a": 6.0, "c": 30.0, "g": 9.0}
    table.delete(where="id = 'g'")
    assert (table.count(), table.schema.simpleString()) == (2, "struct<id:string,ts:bigint,fare:double>")
    sql_view(spark, "trips", str(tmp_path / "t"))
    assert spark.sql("SELECT sum(fare) FROM trips").collect() == [(36.0,)]
    spark.sql("INSERT INTO trips (id, ts, fare) VALUES ('z', 1, 4.0)")
    sql_view(spark, "trips", str(tmp_path / "t"))
    assert spark.table("trips").count() == 3


def test_a_table_of_the_catalogue_names_the_view(spark: Any, tmp_path: Path) -> None:
    table = Table.create(spark, tmp_path / "t", COLUMNS, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(spark.createDataFrame([("a", 1, 1.0)], COLUMNS))
    with pytest.raises(Exception, match=r"nbcc.sql_view\(spark, name, path\)") as caught:
        spark.sql(f"CREATE TABLE named USING nbcc LOCATION '{tmp_path / 't'}'")
    assert "Traceback" not in str(caught.value)
    spark.sql(f"CREATE TABLE listed ({COLUMNS}) USING nbcc LOCATION '{tmp_path / 't'}'")  # Spark does not ask nbcc
    try:
        with pytest.raises(Exception, match=r"nbcc.sql_view\(spark, name, path\)"):
            spark.sql("SELECT * FROM listed").collect()
    finally:
        spark.sql("DROP TABLE listed")
