"""Streaming queries that are timed alike on every side. PySpark and the standard library only, because Hudi's
environment runs it, too.
"""

from __future__ import annotations

import time
from typing import Any

RATE_COLUMNS = (
    "concat('k', lpad(cast(value AS string), 15, '0')) AS id",
    "value AS ts",
    "concat('name ', cast(value % 1000 AS string)) AS name",
    "value * 0.37D AS price",
    "cast(value % 97 AS int) AS quantity",
    "sha2(cast(value AS string), 256) AS note",
)
PATIENCE = 600.0  # seconds


def rate(spark: Any, rows: int) -> Any:
    """A stream of the columns of the benchmarks, with so many new rows in each batch."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).option("numPartitions", 2)
    return source.load().selectExpr(*RATE_COLUMNS)


def copied(writer: Any, path: str) -> None:
    """Run a query until it has written everything that was available at its start."""
    writer.trigger(availableNow=True).start(path).awaitTermination()


def seconds_of(writer: Any, path: str, batches: int) -> float:
    """Run a query without pauses between its batches; the seconds from its start to the end of so many batches."""
    began = time.perf_counter()
    query = writer.start(path)
    while True:
        progress = query.lastProgress
        seconds = time.perf_counter() - began
        if progress and progress["batchId"] >= batches - 1:
            break
        if query.exception() is not None or seconds > PATIENCE:
            raise RuntimeError(f"the query has ended, or has not written {batches} batches: {query.exception()}")
        time.sleep(0.02)
    query.stop()
    return seconds
