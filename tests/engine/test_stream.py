"""A stream of Spark into a table, exactly once: `foreachBatch` with the table's sink, restarts included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.table import Table

COLUMNS = "id string, ts long"


@pytest.mark.nightly
def test_a_stream_that_forgets_how_far_it_was_writes_nothing_twice(spark: Any, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    table = Table.create(spark, tmp_path / "t", COLUMNS, record_key="id", ordering_fields="ts", buckets=1)

    def run(checkpoint: str) -> None:
        stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(source))
        writer = stream.writeStream.foreachBatch(table.sink("orders"))
        writer = writer.option("checkpointLocation", tmp_path / checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()

    (source / "1.json").write_text(json.dumps({"id": "a", "ts": 1}))
    run("one")
    first = table.timeline()
    assert [instant.state for instant in first] == ["completed"]
    run("another")  # as if the checkpoint had been lost after the write: the same batch is sent again
    assert table.timeline() == first
    (source / "2.json").write_text(json.dumps({"id": "b", "ts": 2}))
    run("one")
    assert sorted(row.id for row in table.snapshot().collect()) == ["a", "b"]
    assert len(table.timeline()) == 2
