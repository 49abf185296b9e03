"""A stream of Spark into a table: `foreachBatch` with the table's sink, restarts and a new checkpoint included."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from nbcc.engine.table import Table

COLUMNS = "id string, ts long"


def test_new_rows_after_a_deleted_checkpoint_are_written(spark: Any, tmp_path: Path) -> None:
    """A new checkpoint numbers other rows from 0 again: it is another query, whatever the sink is called."""
    source, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    source.mkdir()
    table = Table.create(spark, tmp_path / "t", COLUMNS, record_key="id", ordering_fields="ts", buckets=1)

    def run() -> None:
        stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(source))
        writer = stream.writeStream.foreachBatch(table.sink("orders")).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()

    def ids() -> list[str]:
        return sorted(row.id for row in table.snapshot().collect())

    (source / "1.json").write_text(json.dumps({"id": "a", "ts": 1}))
    run()
    assert ids() == ["a"]
    (commit,) = (checkpoint / "commits").glob("[0-9]*")
    for file in (commit, commit.with_name(f".{commit.name}.crc")):
        file.unlink()  # as if the driver had died after the write: the batch is sent again
    first = table.timeline()
    run()
    assert table.timeline() == first, "the same batch of the same query is written once"
    shutil.rmtree(checkpoint)
    (source / "1.json").unlink()
    (source / "2.json").write_text(json.dumps({"id": "b", "ts": 2}))
    run()
    assert ids() == ["a", "b"]
    assert [instant.state for instant in table.timeline()] == ["completed"] * 2
