"""Inserts by every write under a record index (`inserts="moved"`): the write that completes first decides the partition
of a key, and another one moves its record there.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcc import Table
from nbcc.engine.config.summary import summary
from nbcc.engine.definition.load import PROPERTIES, open_table
from nbcc.engine.errors import BadInput, Conflict, NotATable, UnknownKey, Unsupported
from nbcc.engine.files.record_index import index_files
from nbcc.simulator.audit.validate import validate
from tests.builders.heartbeats import Died, dies
from tests.builders.tables import SCHEMA, make_table, table_of, with_deletes

from .hooked import during, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(*values: tuple[Any, ...]) -> pa.Table:
    """Rows (id, part, ts, a)."""
    return table_of(SCHEMA, *values)


def made(folder: Path, **changes: Any) -> Table:
    """A table of the key k0 in partition p and q0 in partition q, in which every write inserts keys."""
    table = make_table(folder / "t", **{"buckets": 2, **changes})
    table.upsert(rows(("k0", "p", 1, "old"), ("q0", "q", 1, "old")))
    assert table.index("RECORD_INDEX", inserts="moved")
    return table


def places(found: pa.Table) -> set[tuple[Any, ...]]:
    """The rows as (id, partition, a), if path and column name the same partition."""
    columns = ("id", "part", "a", "_hoodie_partition_path")
    read = [tuple(row[name] for name in columns) for row in found.to_pylist()]
    assert {path.removeprefix("part=") for *_, path in read} == {part for _, part, *_ in read}
    return {each[:3] for each in read}


OLD = {("k0", "p", "old"), ("q0", "q", "old")}


def test_every_write_inserts_keys(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.upsert(rows(("n", "p", 1, "new"), ("m", "q", 1, "new")))
    table.upsert(rows(("n", "p", 2, "newer")))
    assert places(table.snapshot()) == OLD | {("n", "p", "newer"), ("m", "q", "new")}
    assert len({file.instant for file in index_files(table.context.storage)}) == 2, "a known key gets no location"


def test_a_record_is_moved_to_the_partition_that_completes_first(tmp_path: Path) -> None:
    """With its other reads: conditions, windows and past times. The first log is deleted."""
    table = made(tmp_path)
    before = table.timeline()[-1].completed or ""
    first = lambda: table.upsert(rows(("n", "q", 1, "first"), ("o", "q", 1, "first")))  # noqa: E731
    done = during(table, ".log.", first).upsert(rows(("n", "p", 2, "second"), ("k0", "p", 2, "second")))
    new = {("k0", "p", "second"), ("q0", "q", "old"), ("n", "q", "second"), ("o", "q", "first")}
    assert places(table.snapshot()) == new
    assert places(table.snapshot(where=[("part", "=", "q")])) == {each for each in new if each[1] == "q"}
    ends = sorted(instant.completed or "" for instant in table.timeline())
    assert places(table.incremental(ends[-2])) == {("k0", "p", "second"), ("n", "q", "second")}
    assert places(table.as_of(before)) == OLD
    logs = [entry.path for entry in table.context.storage.list("") if f"_{done.requested}.log" in entry.path]
    assert len(logs) == len({stat.path for stat in table.context.commits.commit(done).stats}) == 2
    table.compact()
    assert places(table.snapshot()) == new
    assert validate(table.context.storage).diagnostics == (), "nbcc validate finds no fault"


def test_a_row_of_a_known_key_goes_to_its_partition(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.upsert(rows(("k0", "q", 2, "new"), ("q0", "q", 2, "new")))
    assert places(table.snapshot()) == {("k0", "p", "new"), ("q0", "q", "new")}


def test_a_delete_finds_the_key_that_is_inserted_elsewhere_meanwhile(tmp_path: Path) -> None:
    table = made(tmp_path)
    first = lambda: table.upsert(rows(("n", "q", 1, "first")))  # noqa: E731
    during(table, ".log.", first).upsert(with_deletes(rows(("n", "p", 2, None)), "a"))
    assert places(table.snapshot()) == OLD


def test_a_key_in_two_partitions_of_a_batch_is_refused(tmp_path: Path) -> None:
    table = made(tmp_path)
    with pytest.raises(Conflict, match=r"the key n is in two partitions: of this batch"):
        table.upsert(rows(("n", "p", 1, "a"), ("n", "q", 1, "a")))
    assert not [instant for instant in table.timeline() if not instant.completed]
    table.upsert(rows(("n", "q", 1, "a")))
    assert ("n", "q", "a") in places(table.snapshot())


def test_a_bulk_insert_loses_against_an_upsert(tmp_path: Path) -> None:
    table = made(tmp_path)
    first = lambda: table.upsert(rows(("n", "q", 1, "first")))  # noqa: E731
    with pytest.raises(Conflict, match="the key n is in two partitions"):
        during(table, ".marker", first).bulk_insert(rows(("n", "p", 2, "second")))
    first = lambda: table.bulk_insert(rows(("m", "q", 1, "first")))  # noqa: E731
    during(table, ".log.", first).upsert(rows(("m", "p", 2, "second")))
    assert places(table.snapshot()) == OLD | {("n", "q", "first"), ("m", "q", "second")}


def test_a_record_is_moved_after_a_resize(tmp_path: Path) -> None:
    table = made(tmp_path)
    others = [(f"n{number}", "q", 1, "first") for number in range(6)]

    def meanwhile() -> None:
        table.upsert(rows(*others))
        table.resize(4)

    during(table, ".log.", meanwhile).upsert(rows(*((key, "p", 2, "second") for key, *_ in others)))
    assert places(table.snapshot()) == OLD | {(key, "q", "second") for key, *_ in others}


def test_a_later_location_moves_nothing(tmp_path: Path) -> None:
    """The key keeps the first location, also if one in another partition completes after it."""
    table = made(tmp_path)
    first = lambda: table.upsert(rows(("n", "q", 1, "first")))  # noqa: E731
    during(table, ".log.", first).upsert(rows(("n", "p", 2, "second")))
    assert {row["_hoodie_partition_path"] for file in index_files(table.context.storage)
            for row in pq.read_table(tmp_path / "t" / file.path).to_pylist()
            if row["_hoodie_record_key"] == "n"} == {"part=p", "part=q"}  # fmt: skip
    table.upsert(rows(("n", "p", 3, "third")))
    table.upsert(rows(("n", "q", 4, "fourth")))
    assert places(table.snapshot()) == OLD | {("n", "q", "fourth")}


def test_a_writer_that_dies_while_it_moves_a_record_is_rolled_back(tmp_path: Path) -> None:
    table = made(tmp_path)

    def first() -> None:
        table.upsert(rows(("n", "q", 1, "first")))
        writer.context.storage.moment, writer.context.storage.meanwhile = "part=q/", dies  # type: ignore[attr-defined]

    writer = during(table, ".log.", first)
    with pytest.raises(Died):
        writer.upsert(rows(("n", "p", 2, "dead")))
    table.upsert(rows(("n", "p", 3, "again")))
    dead = replace(table.context, rules=replace(table.context.rules, failed_writes="eager"))
    [undone] = Table(dead, table.config).rollback()
    assert not [entry for entry in table.context.storage.list("") if f"_{undone}.log" in entry.path]
    assert places(table.snapshot()) == OLD | {("n", "q", "again")}


def test_the_partition_columns_of_a_moved_record_have_their_types(tmp_path: Path) -> None:
    fields = [("id", pa.int64()), ("day", pa.date32()), ("region", pa.string()), ("ts", pa.int64())]
    schema = pa.schema(fields)
    options = {"hoodie.datasource.write.hive_style_partitioning": "false"}
    table = make_table(tmp_path / "t", schema=schema, partition_by=["day", "region"], options=options)
    one, two = datetime.date(2026, 1, 2), datetime.date(2026, 1, 3)
    table.upsert(table_of(schema, (1, one, "eu", 1), (2, two, None, 1)))
    assert table.index(inserts="moved")
    table.upsert(table_of(schema, (1, two, "us", 2), (2, one, "eu", 2)))
    found = {tuple(row[name] for name in schema.names) for row in table.snapshot().to_pylist()}
    assert found == {(1, one, "eu", 2), (2, two, None, 2)}


def test_partial_updates_are_moved(tmp_path: Path) -> None:
    schema = pa.schema([*SCHEMA, ("b", pa.string())])
    table = make_table(tmp_path / "t", schema=schema, options={"nbcc.partial.update.mode": "set_columns"})
    table.index(inserts="moved")
    first = lambda: table.upsert(table_of(schema, ("n", "q", 1, "a", "b")))  # noqa: E731
    second = table_of(schema, ("n", "p", 2, "second", None)).drop_columns(["b"])
    during(table, ".log.", first).upsert(second, columns=["a"])
    assert [(row["part"], row["a"], row["b"]) for row in table.snapshot().to_pylist()] == [("q", "second", "b")]


def test_a_write_of_known_keys_makes_no_further_request(tmp_path: Path) -> None:
    """Than under `updates_only`: it compares nothing under the lock."""
    asked = []
    for inserts in ("updates_only", "moved"):
        table = make_table(tmp_path / inserts, buckets=2)
        table.upsert(rows(("k0", "p", 1, "old"), ("q0", "q", 1, "old")))
        table.index(inserts=inserts)
        seen, calls = watched(table)
        seen.upsert(rows(("k0", "p", 2, "new"), ("q0", "q", 2, "new")))
        asked.append([call.split()[0] for call in calls])
    assert asked[0] == asked[1]


def test_the_writes_that_insert_keys_can_be_changed(tmp_path: Path) -> None:
    table = made(tmp_path)
    assert table.index(inserts="moved") is False
    assert table.index(inserts="updates_only")
    with pytest.raises(UnknownKey):
        table.upsert(rows(("n", "p", 1, "new")))
    assert table.index(inserts="moved")
    table.upsert(rows(("n", "p", 1, "new")))
    assert open_table(table.context.storage).record_index == table.config.record_index
    assert summary(table.config)["record index"] == "GLOBAL_RECORD_LEVEL_INDEX, inserts moved"


def test_other_values_are_refused(tmp_path: Path) -> None:
    table = made(tmp_path)
    with pytest.raises(BadInput, match="there are updates_only, moved"):
        table.index(inserts="newest")
    with pytest.raises(BadInput, match="the key alone decides its file group in each partition"):
        table.index("RECORD_LEVEL_INDEX", inserts="moved")
    with pytest.raises(Unsupported, match="overwrite partitions"):
        table.insert_overwrite(rows(("k0", "p", 2, "new")))
    path = tmp_path / "t" / PROPERTIES
    path.write_text(path.read_text().replace("inserts=moved", "inserts=newest"))
    with pytest.raises(NotATable, match=r"its nbcc.record.index.inserts is 'newest'"):
        open_table(table.context.storage)


def test_tasks_of_spark_insert_keys(spark: SparkSession, tmp_path: Path) -> None:
    made(tmp_path)
    table = Table.open(spark, tmp_path / "t")
    table.upsert(spark.createDataFrame(rows(("k0", "q", 2, "new"), ("n", "p", 1, "new"), ("m", "q", 1, "new"))))
    table.upsert(spark.createDataFrame(rows(("n", "q", 2, "newer"))))
    found = {tuple(row) for row in table.snapshot().select("id", "part", "a").collect()}
    assert found == {("k0", "p", "new"), ("q0", "q", "old"), ("n", "p", "newer"), ("m", "q", "new")}


def test_a_data_source_refuses_or_inserts_keys(spark: SparkSession, tmp_path: Path) -> None:
    """Its tasks compare their keys with the index as those of a table do."""
    lock = {"hoodie.write.lock.provider": "FileSystemBasedLockProvider"}
    table = made(tmp_path, options=lock)
    table.index(inserts="updates_only")

    def write(*values: tuple[Any, ...]) -> None:
        spark.createDataFrame(rows(*values)).write.format("nbcc").mode("append").save(str(tmp_path / "t"))

    with pytest.raises(Exception, match="1 row has a key that the table's record index lacks"):
        write(("k0", "p", 2, "new"), ("n", "p", 1, "lost"))
    assert places(table.snapshot()) == OLD
    table.index(inserts="moved")
    write(("k0", "q", 2, "new"), ("n", "p", 1, "new"))
    write(("n", "q", 2, "newer"))
    assert places(table.snapshot()) == {("k0", "p", "new"), ("q0", "q", "old"), ("n", "p", "newer")}
