"""What is written: rows of six columns, made by Spark and kept as Parquet, so that making them is not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, concat, lit, lpad, sha2

from .side import Side

SCHEMA: Final = "id STRING, ts BIGINT, name STRING, price DOUBLE, quantity INT, note STRING"


def rows(spark: SparkSession, count: int, first: int, ordering: int) -> DataFrame:
    """`count` rows with keys from number `first` on: a key of 16 and a text of 64 characters, and four columns."""
    number = col("id")
    return spark.range(first, first + count, 1, 2).select(
        concat(lit("k"), lpad(number.cast("string"), 15, "0")).alias("id"),
        lit(ordering).cast("bigint").alias("ts"),
        concat(lit("name "), (number % 1000).cast("string")).alias("name"),
        (number * 0.37).alias("price"),
        (number % 97).cast("int").alias("quantity"),
        sha2(number.cast("string"), 256).alias("note"),
    )


class Inputs:
    """Batches in files below one folder, made by the side `ours` when they are first asked for."""

    def __init__(self, maker: Side, folder: Path) -> None:
        self._maker = maker
        self._folder = folder

    def path(self, count: int, first: int = 0, ordering: int = 1) -> str:
        """The folder that holds the batch."""
        path = self._folder / f"{count}-{first}-{ordering}"
        if not path.exists():
            self._maker.do("make", path=str(path), count=count, first=first, ordering=ordering)
        return str(path)
