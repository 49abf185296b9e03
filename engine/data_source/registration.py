"""Registers the data source in a session, even if nbcc is not installed for the session's workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..spark.interpreter import prepare_workers
from .data_source import NbccSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Make `format("nbcc")` available in this session, and send nbcc to its workers. A repeated registration changes
    nothing.

    Raises `CannotRun` if the workers cannot run nbcc.
    """
    prepare_workers(spark)
    spark.dataSource.register(NbccSource)
