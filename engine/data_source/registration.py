"""Registers the data source in a Spark session, even if nbcc is not installed on the Python workers."""

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
