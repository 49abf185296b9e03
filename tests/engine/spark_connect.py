"""Run by `test_spark_connect.py` in a process of its own: a local Spark Connect server, and a table through it.

The first argument is a folder that contains nbcc, which the workers of the server lack. The others are scenarios.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

COLUMNS = "id string, part string, ts long"


def connected(folder: Path) -> Any:
    """A session of Spark Connect; its server listens on this machine alone and ends with this process."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    # SPARK_TESTING: the server takes a free port, and the session asks for its number.
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_TESTING": "1"}
    builder = SparkSession.builder.remote("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def workers_without_nbcc(spark: Any, folder: Path) -> None:
    """`register` sends nbcc to the workers of the server."""
    import re

    import pyarrow as pa

    import nbcc
    from nbcc.engine.spark.shipping import guarded

    nbcc.register(spark)

    def where(batches: Any) -> Any:
        from nbcc.engine.spark import sources

        yield from (pa.RecordBatch.from_pydict({"home": [sources.home_of_sources()]}) for _ in batches)

    homes = {row.home for row in spark.range(0, 2, 1, 2).mapInArrow(guarded(where), "home string").collect()}
    assert [re.search(r"nbcc-[0-9a-f]{16}\.zip/nbcc$", home) is not None for home in homes] == [True], homes


def workers_without_packages(spark: Any, folder: Path) -> None:
    """The Python of the server's workers lacks pyarrow: one sentence, before a table is made."""
    import pytest

    from nbcc.engine.errors import CannotRun
    from nbcc.engine.table import Table

    for _ in range(2):
        with pytest.raises(CannotRun, match=r"cannot import fastavro.*start the server with PYSPARK_PYTHON set to"):
            Table.create(spark, folder / "n", COLUMNS, record_key="id", ordering_fields="ts")
    assert not (folder / "n" / ".hoodie").exists()


def every_operation(spark: Any, folder: Path) -> None:
    from nbcc.engine.table import Table

    def rows(*values: tuple[str, str, int]) -> Any:
        return spark.createDataFrame(list(values), COLUMNS)

    table = Table.create(spark, folder / "t", COLUMNS, record_key="id", ordering_fields="ts", partition_by="part")
    first = table.upsert(rows(("a", "p", 1), ("b", "q", 1)), batch_id="one")
    assert table.upsert(rows(("b", "q", 1), ("a", "p", 1)), batch_id="one") == first
    table.upsert(rows(("a", "p", 2)))
    assert table.log_compact()
    assert table.compact()
    assert table.insert_overwrite(rows(("c", "q", 1)))
    assert table.delete_partition(["part=p"] if (folder / "t" / "part=p").exists() else ["p"])
    assert [row.id for row in table.snapshot().collect()] == ["c"]
    assert all(instant.completed or instant.action in ("compaction", "logcompaction") for instant in table.timeline())
    assert Table.open(None, folder / "t").snapshot()["id"].to_pylist() == ["c"]


def a_stream(spark: Any, folder: Path) -> None:
    import pytest

    from nbcc.engine.errors import BadInput
    from nbcc.engine.table import Table

    (folder / "in").mkdir()
    (folder / "in" / "1.json").write_text('{"id": "a", "part": "p", "ts": 1}')
    table = Table.create(spark, folder / "s", COLUMNS, record_key="id", ordering_fields="ts", partition_by="part")
    with pytest.raises(BadInput, match=r"write batches of the stream 'orders'.*table\.sink\(query_id=\.\.\.\)"):
        table.sink("orders")
    stream = spark.readStream.schema(COLUMNS).json(str(folder / "in"))
    writer = stream.writeStream.foreachBatch(table.sink(query_id="orders-1"))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    assert started(writer.trigger(availableNow=True)).awaitTermination(300)
    assert [row.id for row in table.snapshot().collect()] == ["a"]


def started(writer: Any) -> Any:
    """Start a stream. Spark waits only ten seconds for the process that calls `foreachBatch`."""
    from pyspark.errors import PySparkException

    for _ in range(9):
        try:
            return writer.start()
        except PySparkException as late:
            if "failed to connect back" not in str(late):
                raise
    return writer.start()


def main() -> None:
    scenarios = [globals()[name] for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as name:
        spark = connected(Path(name))
        for each in scenarios:
            each(spark, Path(name))
            print(each.__name__, "has run", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    main()
    os._exit(0)  # the JVM ends with this process; PySpark's own way out waits for it longer than the test does
