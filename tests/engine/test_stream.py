"""A stream of Spark into a table: `foreachBatch` with the table's sink, restarts and a new checkpoint included."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from nbcc.engine.table import Table
from tests.builders.streams import forget_last_commit, python_workers

COLUMNS = "id string, ts long"


def test_new_rows_after_a_deleted_checkpoint_are_written(spark: Any, tmp_path: Path) -> None:
    """A new checkpoint numbers other rows from 0 again: it is another query, under any name of the sink."""
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
    forget_last_commit(checkpoint)
    first = table.timeline()
    run()
    assert table.timeline() == first, "the same batch of the same query is written once"
    shutil.rmtree(checkpoint)
    (source / "1.json").unlink()
    (source / "2.json").write_text(json.dumps({"id": "b", "ts": 2}))
    run()
    assert ids() == ["a", "b"]
    assert [instant.state for instant in table.timeline()] == ["completed"] * 2


def test_the_format_writes_each_batch_once(spark: Any, tmp_path: Path) -> None:
    """A batch that Spark runs again is not written again; a renamed checkpoint goes on; a copy of one raises."""
    source, checkpoint, path = tmp_path / "in", tmp_path / "checkpoint", tmp_path / "t"
    source.mkdir()
    key = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.table.ordering.fields": "ts"}

    def run(place: Path, mode: str = "append") -> None:
        stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(source))
        if mode == "complete":
            stream = stream.groupBy("id").agg({"ts": "max"}).toDF("id", "ts")
        writer = stream.writeStream.format("nbcc").outputMode(mode).options(**key).option("checkpointLocation", place)
        writer.trigger(availableNow=True).start(str(path)).awaitTermination()

    def put(name: str) -> None:
        (source / f"{name}.json").write_text(json.dumps({"id": name, "ts": 1}))

    def ids() -> list[str]:
        return sorted(row.id for row in Table.open(spark, path).snapshot().collect())

    put("a")
    run(checkpoint)
    forget_last_commit(checkpoint)
    timeline = Table.open(spark, path).timeline()
    run(checkpoint)
    assert Table.open(spark, path).timeline() == timeline
    shutil.copytree(checkpoint, tmp_path / "copy")
    renamed = checkpoint.rename(tmp_path / "renamed")
    put("b")
    run(renamed)
    assert ids() == ["a", "b"]
    (source / "b.json").unlink()
    put("c")
    with pytest.raises(StreamingQueryException, match=r"has committed other rows under this id"):
        run(tmp_path / "copy")
    with pytest.raises(StreamingQueryException, match=r"output mode complete would replace"):
        run(tmp_path / "complete", "complete")
    assert ids() == ["a", "b"]


def test_a_finished_query_has_published_the_progress_of_its_consumer(spark: Any, tmp_path: Path) -> None:
    table = Table.create(spark, tmp_path / "t", COLUMNS, record_key="id", ordering_fields="ts", buckets=1)
    written = table.upsert(spark.createDataFrame([("a", 1)], "id string, ts long"))
    rows = spark.readStream.format("nbcc").option("consumer", "board").load(str(tmp_path / "t"))
    writer = rows.writeStream.format("noop").trigger(availableNow=True)
    assert writer.option("checkpointLocation", tmp_path / "checkpoint").start().awaitTermination(120)
    assert table.consumers() == {"board": written.completed}


@pytest.mark.parametrize("kills", [2, pytest.param(200, marks=[pytest.mark.nightly, pytest.mark.timeout(7200)])])
def test_a_copy_by_streams_equals_its_source_under_kills(spark: Any, tmp_path: Path, kills: int) -> None:
    """`readStream` -> `writeStream`: after each restart the copy is the source as of the last trigger.

    A kill ends the Python workers when the batch has a pending instant, when it has completed, or at random. Or it
    takes the last entry from Spark's commit log, as a driver leaves it that dies after the write.
    """
    chance = random.Random(kills)
    source, copy = (
        Table.create(spark, tmp_path / name, COLUMNS, record_key="id", ordering_fields="ts", buckets=2)
        for name in ("source", "copy")
    )
    checkpoint, died_of = tmp_path / "checkpoint", list[str]()

    def follow(kill_at: str = "") -> bool:
        rows = spark.readStream.format("nbcc").option("hoodie.datasource.query.type", "incremental")
        writer = rows.load(str(tmp_path / "source")).writeStream.format("nbcc").trigger(availableNow=True)
        before = copy.timeline()
        query = writer.option("checkpointLocation", checkpoint).start(str(tmp_path / "copy"))
        if kill_at == "random":
            query.awaitTermination(chance.uniform(0.0, 3.0))
        while kill_at in ("pending", "completed") and query.isActive:
            new = [instant for instant in copy.timeline() if instant not in before]
            if any(kill_at == "pending" or instant.completed for instant in new):
                break
        for worker in python_workers() if kill_at else []:
            os.kill(worker, signal.SIGKILL)
        try:
            query.awaitTermination()
        except StreamingQueryException as died:
            if "Asked to" in str(died):  # an error of nbcc, not the death of a worker
                raise
            died_of.append(str(died))
            return False
        return True

    def restart() -> None:
        """Spark keeps dead workers in its pool: a query that gets one of them dies as well."""
        assert any(follow() for _ in range(10)), died_of[-1]

    def rows_of(table: Table) -> set[tuple[str, int]]:
        return {(row.id, row.ts) for row in table.snapshot(["id", "ts"]).collect()}

    deaths, batches = 0, kills
    for number in range(kills):
        source.upsert(spark.createDataFrame([(f"k{key}", number) for key in chance.sample(range(9), 4)], COLUMNS))
        if chance.random() < 0.3:
            source.delete(spark.createDataFrame([(f"k{chance.randrange(9)}", number)], COLUMNS))
        moment = ("pending", "driver", "completed", "random")[number % 4]
        if moment == "driver":
            restart()
            forget_last_commit(checkpoint)
            source.upsert(spark.createDataFrame([("late", number)], COLUMNS))  # delivered after the repeated batch
            batches += 1
        else:
            deaths += not follow(moment)
        restart()
        assert rows_of(copy) == rows_of(source), moment
    assert deaths, "a kill has ended a query"
    written = [instant for instant in copy.timeline() if instant.completed]
    assert len(written) <= batches, "no batch is written twice"


