"""A table in an object store on Spark: the data source, `Table`, and no secret in a plan, a message or an option."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nbcc import Table
from nbcc.simulator.lockstep.s3.server import Bucket

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URL = "s3://lake/t"
CREATE = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.bucket.index.num.buckets": "2",
}


def test_spark_writes_and_reads_a_table_in_an_object_store(spark: SparkSession, bucket: Bucket) -> None:
    texts = {**bucket.texts, "allow_http": "true"}
    options = {f"storage.{name}": text for name, text in texts.items()}
    first = spark.createDataFrame([(f"k{n}", 1, "a") for n in range(20)], "id string, ts long, a string")
    first.write.format("nbcc").mode("append").options(**CREATE, **options).save(URL)
    table = Table.open(spark, URL, texts)
    table.upsert(spark.createDataFrame([("k1", 2, "b")], "id string, ts long, a string"))
    assert table.compact() is not None
    again = spark.createDataFrame([("k2", 3, "c")], "id string, ts long, a string")
    again.write.format("nbcc").mode("append").options(**options).save(URL)
    rows = spark.read.format("nbcc").options(**options).load(URL)
    changed = {tuple(row) for row in rows.where("a != 'a'").select("id", "ts", "a").collect()}
    assert changed == {("k1", 2, "b"), ("k2", 3, "c")}
    assert rows.count() == table.snapshot().count() == 20
    for frame in (rows, table.snapshot()):
        plan = frame._jdf.queryExecution().toString()  # as an event log has it
        assert "s3cr3t" not in plan
    with pytest.raises(Exception, match="did you mean 'region'") as refused:
        spark.read.format("nbcc").options(**options, **{"storage.regio": "s3cr3t"}).load(URL)
    assert "s3cr3t" not in str(refused.value)
    assert not any(b"s3cr3t" in stored.data for stored in bucket.objects.values())
