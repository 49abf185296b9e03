"""`nbcc.sql_view`: a temporary view of a table for Spark SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .registration import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def sql_view(spark: SparkSession, name: str, path: str, **options: str) -> None:
    """Create or replace the temporary view `name` of the table at `path`, for SELECT and for INSERT INTO.

    `options` are those of ``format("nbcc")``; a name with dots is written with underscores, for example
    ``as_of_instant="2026-11-28"``. The view shows the state at its creation: create it again to see newer commits.
    Spark passes no path to a Python data source for tables of its catalogue, so that ``CREATE TABLE ... USING nbcc``
    cannot be read (docs/sql.md).
    """
    register(spark)
    given = {"path": path, **{option.replace("_", "."): value for option, value in options.items()}}
    listed = ", ".join(f"{_quoted(option)} {_quoted(str(value))}" for option, value in given.items())
    escaped = name.replace("`", "``")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW `{escaped}` USING nbcc OPTIONS ({listed})")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
