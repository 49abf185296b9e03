"""Registers the data source in a Spark session, even if nbcc is not installed on the Python workers, and makes views of
tables for Spark SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..spark.interpreter import prepare_workers
from .data_source import NbccSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Register `format("nbcc")` in a Spark session, and send nbcc to the Python workers. A repeated registration has no
    effect.

    Raises `CannotRun` if the Python workers cannot run nbcc.
    """
    prepare_workers(spark)
    spark.dataSource.register(NbccSource)


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
