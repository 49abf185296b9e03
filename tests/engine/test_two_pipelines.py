"""Two streams with different columns write one table, the services run in one of them, and a third query follows.

The example of Hudi's post on non-blocking concurrency control, with partial updates and kills.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from nbcc import MaintenancePolicy, Table
from tests.builders.streams import forget_last_commit, python_workers

COLUMNS = "id string, ts long, fare double, city string"
ROWS_PER_BATCH = 12
KEYS = 5
POLICY = MaintenancePolicy(compact_commits=3, clean_retained=4, archive_least=4, archive_most=8)
Change = tuple[str, dict[str, Any] | None, dict[str, Any] | None]


class Pipelines:
    """The table, its two writing streams, and a follower that stores the changes of each of its batches once."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        options = {"nbcc.partial.update.mode": "set_columns"}
        self.table = Table.create(
            spark, folder / "t", COLUMNS, record_key="id", ordering_fields="ts", buckets=2, options=options
        )
        self.changes: dict[int, list[Change]] = {}
        fares = self.table.sink("fares", columns=["fare"], maintenance=POLICY)
        self.sinks = {"fare": fares, "city": self.table.sink("cities", columns=["city"])}

    def start_writer(self, column: str) -> Any:
        """Start the stream that sets one column. Each start writes one batch, or the unfinished batch and one more."""
        rate = self.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS_PER_BATCH).load()
        rows = rate.selectExpr(
            f"'k' || value % {KEYS} AS id", "value AS ts", "value / 2 AS fare", "'c' || value AS city"
        )
        writer = rows.select("id", "ts", column).writeStream.foreachBatch(self.sinks[column])
        return writer.option("checkpointLocation", self.checkpoint(column)).trigger(availableNow=True).start()

    def start_follower(self) -> Any:
        reader = self.spark.readStream.format("nbcc").option("hoodie.datasource.query.incremental.format", "cdc")
        rows = reader.option("consumer", "follower").load(str(self.folder / "t"))
        writer = rows.writeStream.foreachBatch(self._keep).option("checkpointLocation", self.checkpoint("follower"))
        return writer.trigger(availableNow=True).start()

    def _keep(self, batch: Any, number: int) -> None:
        rows = [(r.op, r.before and r.before.asDict(), r.after and r.after.asDict()) for r in batch.collect()]
        assert self.changes.setdefault(number, rows) == rows, "a batch that is sent again has the same rows"

    def checkpoint(self, name: str) -> str:
        return str(self.folder / f"checkpoint-{name}")

    def batches(self, column: str) -> int:
        return len([*Path(self.checkpoint(column), "commits").glob("[0-9]*")])

    def expected(self) -> dict[str, tuple[int, float, str]]:
        """For each key: the greatest ordering value, and each column's value of the last row that set it."""
        rows: dict[str, tuple[int, float, str]] = {}
        fares, cities = (self.batches(column) * ROWS_PER_BATCH for column in ("fare", "city"))
        for key in range(KEYS):
            fare, city = (max(range(key, count, KEYS)) for count in (fares, cities))
            rows[f"k{key}"] = (max(fare, city), fare * 0.5, f"c{city}")
        return rows


def ended(query: Any) -> bool:
    """Wait for a query. An error of nbcc is raised: no writer is refused and no reader is behind."""
    try:
        query.awaitTermination()
    except StreamingQueryException as died:
        if "Asked to" in str(died):
            raise
        return False
    return True


def until_it_ends(start: Callable[[], Any]) -> None:
    """Spark keeps dead workers in its pool: a query that gets one of them dies as well."""
    assert any(ended(start()) for _ in range(10))


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rounds", [3, 60])
def test_two_pipelines_and_a_follower_under_kills(spark: Any, tmp_path: Path, rounds: int) -> None:
    """Every row is there, the follower has each change once, and the services bound the table."""
    pipelines, chance = Pipelines(spark, tmp_path), random.Random(rounds)
    for number in range(rounds):
        queries = [pipelines.start_writer("fare"), pipelines.start_writer("city")]
        if number:
            queries.append(pipelines.start_follower())
        if number % 3 == 1:
            queries[0].awaitTermination(chance.uniform(0.0, 2.0))
            for worker in python_workers():
                os.kill(worker, signal.SIGKILL)
        for query in queries:
            ended(query)
        if number % 3 == 2 and pipelines.batches("city"):
            forget_last_commit(Path(pipelines.checkpoint("city")))
    writers: list[Callable[[], Any]] = [partial(pipelines.start_writer, column) for column in ("fare", "city")]
    for start in (*writers, pipelines.start_follower):
        until_it_ends(start)
    rows = pipelines.table.snapshot(["id", "ts", "fare", "city"]).collect()
    assert {row.id: (row.ts, row.fare, row.city) for row in rows} == pipelines.expected()
    assert copied(pipelines.changes) == {row.id: row.asDict() for row in rows}
    state = pipelines.table.maintain(POLICY)[-1].counts
    assert state["logs_per_slice"] <= 2 * POLICY.archive_most
    assert state["pending_instants"] <= rounds
    assert any(instant.action == "commit" for instant in pipelines.table.timeline()), "it was compacted"


def copied(changes: dict[int, list[Change]]) -> dict[str, dict[str, Any]]:
    """Apply the changes of every batch in order. Each change begins with the row that the one before it left."""
    copy: dict[str, dict[str, Any]] = {}
    for number in sorted(changes):
        for op, before, after in changes[number]:
            key = (after or before or {})["id"]
            assert copy.get(key) == before, f"{op} of {key} in batch {number}"
            if after is None:
                del copy[key]
            else:
                copy[key] = after
    return copy
