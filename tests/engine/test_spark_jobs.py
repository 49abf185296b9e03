"""The Spark runner does what the in-process runner does, on the same files."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from nbcc.engine.data.columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, IS_DELETED
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.tasks import (
    ChangesTask,
    CompactTask,
    LogInput,
    ReadTask,
    TableShape,
    WindowTask,
    WriteTask,
    WrittenFile,
)
from nbcc.engine.errors import BadInput
from nbcc.engine.names import RandomNames
from nbcc.engine.schema import avro_json, to_spark
from nbcc.engine.spark import jobs as jobs_of_spark
from nbcc.engine.spark.jobs import SparkJobs
from nbcc.engine.storage import open_storage
from tests.builders.tasks import rows_and_deletes, shape

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [(f"k{number}", number % 7, f"v{number}", f"p {number % 3}") for number in range(60)]
DELETES = [(f"k{number}", 9, None, f"p {number % 3}") for number in range(0, 60, 5)]
UPDATES = [(f"k{number}", 3, "new", f"p {number % 3}") for number in range(0, 60, 4)]


class Pair:
    """One table, and both runners on it."""

    def __init__(self, spark: SparkSession, folder: Path, of: TableShape) -> None:
        self.storage = open_storage(folder)
        self.shape = of
        self.spark = spark
        self.on_spark = SparkJobs(spark, self.storage, RandomNames())
        self.in_process = InProcessJobs(self.storage, RandomNames())

    def frame(self, rows: pa.Table) -> DataFrame:
        return self.spark.createDataFrame(rows.to_pylist(), to_spark(rows.schema)).repartition(3)

    def slices(self, written: list[WrittenFile], instant: str, into: list[ReadTask] | None = None) -> list[ReadTask]:
        """The slices of `into` with the new logs."""
        found = {(task.partition, task.file_id): task for task in into or []}
        for file in written:
            group = (file.partition, file.file_id)
            task = found.get(group) or ReadTask(self.shape, *group)
            found[group] = replace(task, logs=(*task.logs, LogInput(file.path, instant)))
        return list(found.values())

    def compacted(self, task: ReadTask, written: list[WrittenFile]) -> ReadTask:
        """The slice that a compaction at instant 4 left of `task`."""
        mine = [file for file in written if (file.partition, file.file_id) == (task.partition, task.file_id)]
        base, *tombstones = mine
        return replace(task, base=base.path, tombstones=tuple(LogInput(file.path, "4") for file in tombstones), logs=())

    def both(self, tasks: list[Any], schema: pa.Schema) -> list[dict[str, Any]]:
        """The rows that both runners agree on."""
        here: list[dict[str, Any]] = self.in_process.read(tasks, schema).to_pylist()
        there = [row.asDict(recursive=True) for row in self.on_spark.read(tasks, schema).collect()]
        assert sorted(there, key=str) == sorted(here, key=str)
        return here


@pytest.fixture
def pair(spark: SparkSession, tmp_path: Path) -> Pair:
    return Pair(spark, tmp_path / "a table", shape(partition_by=("part",), buckets=2))


def known(rows: list[dict[str, Any]]) -> set[tuple[str, int, str]]:
    return {(row["id"], row["ts"], row["value"]) for row in rows}


def test_write_compact_and_read(pair: Pair) -> None:
    first = pair.on_spark.write(pair.frame(rows_and_deletes(*ROWS)), WriteTask(pair.shape, "1"))
    assert [(file.partition, file.file_id[:8]) for file in first] == [
        (f"p {partition}", f"0000000{bucket}") for partition in range(3) for bucket in range(2)
    ]
    slices = pair.slices(first, "1")
    rows = pair.both(slices, pair.shape.stored_schema)
    assert known(rows) == {row[:3] for row in ROWS}
    assert len({row[COMMIT_SEQNO] for row in rows}) == len(ROWS)

    slices = pair.slices(
        pair.on_spark.write(pair.frame(rows_and_deletes(*DELETES)), WriteTask(pair.shape, "2")), "2", slices
    )
    slices = pair.slices(pair.in_process.write(rows_and_deletes(*UPDATES), WriteTask(pair.shape, "3")), "3", slices)
    expected = pair.both(slices, pair.shape.stored_schema)

    written = pair.on_spark.compact([CompactTask(task, "4") for task in slices])
    assert sum(file.deletes for file in written) == len(DELETES)
    compacted = [pair.compacted(task, written) for task in slices]
    rows = pair.both(compacted, pair.shape.stored_schema)
    assert known(rows) == known(expected)
    assert {row[COMMIT_TIME] for row in rows} == {"1", "3"}
    mixed = [replace(compacted[0], logs=slices[0].logs[-1:]), *compacted[1:]]  # base, tombstones and a late log
    assert known(pair.both(mixed, pair.shape.stored_schema)) == known(expected)


def test_windows_and_changes(pair: Pair) -> None:
    before = pair.slices(pair.on_spark.write(pair.frame(rows_and_deletes(*ROWS)), WriteTask(pair.shape, "1")), "1")
    after = pair.slices(
        pair.on_spark.write(pair.frame(rows_and_deletes(*DELETES)), WriteTask(pair.shape, "2")), "2", before
    )
    logs = [task.logs[1:] for task in after]
    rows = pair.both([WindowTask(pair.shape, part) for part in logs], pair.shape.window_schema)
    assert {(row["id"], row["ts"], row[IS_DELETED]) for row in rows} == {(row[0], 9, True) for row in DELETES}
    changes = [
        ChangesTask(pair.shape, (old,), (new,), part, (("2", "22"),))
        for old, new, part in zip(before, after, logs, strict=True)
    ]
    rows = pair.both(changes, pair.shape.changes_schema)
    assert {(row["op"], row["completed"], row["before"]["id"]) for row in rows} == {
        ("d", "22", row[0]) for row in DELETES
    }


def test_compaction_without_a_spark_context(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by Spark Connect: the same files by DataFrames alone."""
    monkeypatch.setattr(jobs_of_spark, "is_connect", lambda spark: True)
    test_write_compact_and_read(pair)


def test_one_task_writes_a_file_group(spark: SparkSession, tmp_path: Path) -> None:
    """Each group has one writer number, each writer one group, however the input was spread."""
    pair = Pair(spark, tmp_path, shape(buckets=4))
    written = pair.on_spark.write(pair.frame(rows_and_deletes(*ROWS)), WriteTask(pair.shape, "1"))
    assert [file.file_id[:8] for file in written] == [f"0000000{bucket}" for bucket in range(4)]
    rows = pair.both(pair.slices(written, "1"), pair.shape.stored_schema)
    writers = {(row[FILE_NAME], row[COMMIT_SEQNO].split("_")[1]) for row in rows}
    assert len(writers) == len({writer for _, writer in writers}) == 4


def test_folders_named_like_columns_stay_values(spark: SparkSession, tmp_path: Path) -> None:
    of = shape(partition_by=("part",))
    pair = Pair(spark, tmp_path, replace(of, keys=replace(of.keys, hive_style=True)))
    rows = [("a", 1, "x", "2026"), ("b", 1, "x", "01"), ("c", 1, "x", "*"), ("d", 1, "x", None)]
    slices = pair.slices(pair.on_spark.write(pair.frame(rows_and_deletes(*rows)), WriteTask(pair.shape, "1")), "1")
    bases = pair.on_spark.compact([CompactTask(task, "2") for task in slices])
    read = [ReadTask(pair.shape, file.partition, file.file_id, file.path) for file in bases]
    found = pair.both(read, pair.shape.stored_schema)
    assert sorted((row["id"], str(row["part"])) for row in found) == [(row[0], str(row[3])) for row in rows]
    assert {file.partition for file in bases} == {"part=2026", "part=01", "part=*", "part=__HIVE_DEFAULT_PARTITION__"}


def test_every_type_crosses_unchanged(spark: SparkSession, tmp_path: Path) -> None:
    columns = {
        "id": (pa.int64(), 2**40),
        "ts": (pa.timestamp("us", "UTC"), datetime.datetime(2026, 1, 1, 12, 30, 0, 123456)),
        "flag": (pa.bool_(), True),
        "day": (pa.date32(), datetime.date(1969, 12, 31)),
        "money": (pa.decimal128(12, 2), Decimal("-1.50")),
        "raw": (pa.binary(), b"\x00\xff"),
        "half": (pa.float32(), 0.5),
        "tags": (pa.map_(pa.string(), pa.list_(pa.int32())), {"x": [1, None]}),
        "deep": (pa.struct([("a", pa.string()), ("b", pa.list_(pa.struct([("c", pa.float64())])))]),
                 {"a": "é", "b": [{"c": 1.5}, None]}),
    }  # fmt: skip
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
    plain = shape(buckets=2)
    pair = Pair(spark, tmp_path, replace(plain, schema=schema, avro_schema=avro_json(schema, "types", meta=True)))
    full = {name: value for name, (_, value) in columns.items()}
    nulls = dict.fromkeys(columns, None) | {"id": 7, "ts": full["ts"]}
    frame = spark.createDataFrame([full, nulls, full], to_spark(schema))
    slices = pair.slices(pair.on_spark.write(frame, WriteTask(pair.shape, "1")), "1")
    bases = pair.on_spark.compact([CompactTask(task, "2") for task in slices])
    for tasks in (slices, [ReadTask(pair.shape, file.partition, file.file_id, file.path) for file in bases]):
        found = {
            r["id"]: r.asDict(recursive=True) for r in pair.on_spark.read(tasks, pair.shape.stored_schema).collect()
        }
        assert {name: found[7][name] for name in columns} == nulls
        assert {name: found[2**40][name] for name in columns} == full


def test_broken_rules_are_found_across_tasks(pair: Pair) -> None:
    """Each task looks at its own groups; the driver adds up what they found and says what the other runner says."""
    broken = rows_and_deletes(*ROWS, ("k1", 1, "other", "p 1"), ("k2", 2, "other", "p 2"), ("k3", 1, "x", ".."))
    with pytest.raises(BadInput) as there:
        pair.on_spark.write(pair.frame(broken), WriteTask(pair.shape, "1"))
    with pytest.raises(BadInput) as here:
        pair.in_process.write(broken, WriteTask(pair.shape, "1"))
    assert here.value.exists.startswith("2 rows share key and ordering value")
    assert str(there.value) == str(here.value)


def test_nothing_in_nothing_out(pair: Pair) -> None:
    empty = pair.frame(rows_and_deletes())
    assert pair.on_spark.write(empty, WriteTask(pair.shape, "1")) == []
    assert pair.on_spark.compact([]) == []
    assert pair.on_spark.read([], pair.shape.stored_schema).collect() == []
