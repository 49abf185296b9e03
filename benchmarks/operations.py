"""The operations that are timed, through the public face of a table."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from nbcc.engine.table import Table

from .inputs import SCHEMA, Inputs
from .measure import Clock

BUCKETS: Final = 4
UPDATES: Final = 4

LOAD = "load all rows"
COMPACT_LOGS = "compact logs alone"
UPSERT = "upsert a tenth"
SNAPSHOT = "snapshot of base and logs"
COMPACT_BOTH = "compact base and logs"
SNAPSHOT_BASE = "snapshot of base alone"
SMALL = "commit 100 rows"


def rounds(spark: SparkSession, folder: Path, rows: int, count: int) -> Clock:
    """`count` times, each on a new table: load, compact, update by a tenth four times, read, compact, small commits.

    One round before them is not timed: it warms JVM and Python workers up.
    """
    inputs, clock = Inputs(spark, folder / "inputs"), Clock(spark)
    for number in range(count + 1):
        table = fresh(spark, folder / "table")
        one_round(table, inputs, rows, clock if number else Clock(spark))
    return clock


def fresh(spark: SparkSession, folder: Path, **options: str) -> Table:
    """A new table where the last one was."""
    shutil.rmtree(folder, ignore_errors=True)
    return Table.create(
        spark, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS, options=options or None
    )


def one_round(table: Table, inputs: Inputs, rows: int, clock: Clock) -> None:
    tenth = rows // 10
    load = inputs.rows(rows, 0, 1)
    updates = [inputs.rows(tenth, number * 2 * tenth, 2 + number) for number in range(UPDATES)]
    small = [inputs.rows(100, number, 9 + number) for number in range(UPDATES)]
    clock.time(LOAD, lambda: table.upsert(load))
    clock.time(COMPACT_LOGS, table.compact)
    for update in updates:
        clock.time(UPSERT, partial(table.upsert, update))
    clock.time(SNAPSHOT, partial(read_all, table))
    clock.time(COMPACT_BOTH, table.compact)
    clock.time(SNAPSHOT_BASE, partial(read_all, table))
    for batch in small:
        clock.time(SMALL, partial(table.upsert, batch))


def read_all(table: Table) -> None:
    """Have every row of the snapshot made, and keep none."""
    table.snapshot().write.format("noop").mode("overwrite").save()


def block_formats(spark: SparkSession, folder: Path, counts: tuple[int, ...], repeats: int) -> list[dict[str, Any]]:
    """Both formats of log blocks: time to write a commit of so many rows, its bytes, time to read it back."""
    inputs, found = Inputs(spark, folder / "inputs"), []
    for count in counts:
        batch = inputs.rows(count, 0, 1)
        for block_format in ("parquet", "avro"):
            clock = Clock(spark)
            for number in range(repeats + 1):
                option = {"hoodie.logfile.data.block.format": block_format}
                table = fresh(spark, folder / "blocks", **option)
                timer = clock if number else Clock(spark)
                timer.time("write", partial(table.upsert, batch))
                timer.time("read", partial(read_all, table))
            size = sum(entry.size for entry in table.context.storage.list("") if ".log." in entry.path)
            medians = {name: round(timings.median, 3) for name, timings in clock.timings.items()}
            found.append({"rows": count, "format": block_format, "bytes": size, **medians})
    return found
