"""Damaged files through Spark: jobs, Spark's own reader of base files, and the data source say the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbcc import Limits, Table, set_limits
from tests.builders.data_file_paths import data_files
from tests.builders.tables import batch, make_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LISTED = r"has 0 bytes, and its commit lists \d+"


def test_an_empty_log_is_an_error_of_every_job(spark: SparkSession, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    first = table.upsert(batch(("a", 1, "x")))
    table.upsert(batch(("b", 1, "x")))
    data_files(tmp_path)[-1].write_bytes(b"")
    by_spark = Table.open(spark, tmp_path)
    jobs = (
        lambda: by_spark.snapshot().collect(),
        lambda: by_spark.incremental(first).collect(),
        by_spark.compact,  # a log compaction runs the same way, and would wait for this plan
        lambda: spark.read.format("nbcc").load(str(tmp_path)).collect(),
    )
    for job in jobs:
        with pytest.raises(Exception, match=LISTED):
            job()


@pytest.mark.parametrize("size", [0, 100])
def test_a_cut_base_file_is_not_left_to_the_reader_of_spark(size: int, spark: SparkSession, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    table.compact()
    base = next(path for path in data_files(tmp_path) if path.suffix == ".parquet")
    base.write_bytes(base.read_bytes()[:size])
    for rows in (Table.open(spark, tmp_path).snapshot(), Table.open(spark, tmp_path).read_optimized()):
        with pytest.raises(Exception, match=rf"has {size} bytes, and its commit lists \d+"):
            rows.collect()


def test_a_copy_on_write_merge_by_spark_wants_a_whole_base_file(spark: SparkSession, tmp_path: Path) -> None:
    table = make_table(tmp_path, table_type="COPY_ON_WRITE", concurrency_mode=None)
    table.upsert(batch(("a", 1, "x")))
    data_files(tmp_path)[-1].write_bytes(b"")
    with pytest.raises(Exception, match=LISTED):
        Table.open(spark, tmp_path).upsert(spark.createDataFrame(batch(("b", 1, "x"))))


def test_executors_decode_within_the_limits_of_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(*((f"k{n}", 1, "x" * 50) for n in range(200))))
    set_limits(Limits(decoded_bytes=1000, decoded_ratio=1))
    try:
        with pytest.raises(Exception, match="LimitExceeded"):
            Table.open(spark, tmp_path).snapshot().collect()
    finally:
        set_limits(Limits())
    assert Table.open(spark, tmp_path).snapshot().count() == 200
