"""What these layers write opens in hudi-rs, and says there what it should."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi import HudiReadOptions, HudiTable

from nbcc.engine.config import TableConfig
from nbcc.engine.definition.load import create_table
from nbcc.engine.file_names import LogName
from nbcc.engine.files.data_block import DataFormat, encode_data
from nbcc.engine.files.delete_block import encode_deletes
from nbcc.engine.names import bucket_file_id
from nbcc.engine.schema import META_COLUMNS, with_meta
from nbcc.engine.storage import open_storage
from nbcc.engine.timeline import WriteStat
from tests.builders.files import SCHEMA, Writer, own_table, t

Rows = dict[str, tuple[str, int]]


def hudi_rs(folder: Path) -> list[dict[str, Any]]:
    batches = HudiTable(str(folder)).read(HudiReadOptions())
    return [
        row for batch in batches for row in pa.RecordBatch.from_arrays(batch.columns, schema=batch.schema).to_pylist()
    ]


def snapshot(folder: Path) -> Rows:
    return {row["id"]: (row["val"], row["ts"]) for row in hudi_rs(folder)}


def commit(writer: Writer, requested: int, completed: int, *stats: WriteStat) -> None:
    writer.begin(t(requested))
    writer.complete(t(requested), t(completed), *stats)


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize("kind", ["parquet", "avro"])
def test_a_history_with_a_late_writer_and_a_compaction(version: int, kind: DataFormat, tmp_path: Path) -> None:
    writer = own_table(tmp_path, version=version)
    assert hudi_rs(tmp_path) == []
    first = writer.log(t(1), [(f"k{n}", "a", 1) for n in range(1, 5)], kind=kind)
    commit(writer, 1, 2, first)
    assert snapshot(tmp_path) == {f"k{n}": ("a", 1) for n in range(1, 5)}

    second = writer.log(t(3), [("k1", "b", 2), ("k4", "stale", 0)], [("k2", 2), ("k3", 0)], kind=kind)
    commit(writer, 3, 4, second)
    after_deletes = {"k1": ("b", 2), "k3": ("a", 1), "k4": ("a", 1)}  # a delete of k3 with ordering 0 loses to 1
    assert snapshot(tmp_path) == after_deletes

    writer.begin(t(5))
    late = writer.log(t(5), [("k4", "late", 5)], kind=kind)
    writer.plan(t(6), None, first, second)
    assert snapshot(tmp_path) == after_deletes
    writer.complete(t(5), t(7), late)
    expected = after_deletes | {"k4": ("late", 5)}
    assert snapshot(tmp_path) == expected

    compacted = writer.base(t(6), [(key, *after_deletes[key]) for key in sorted(after_deletes)])
    writer.complete(t(6), t(8), compacted, action="compaction")
    assert snapshot(tmp_path) == expected

    writer.log(t(9), [("k1", "crashed", 9)], kind=kind)
    writer.begin(t(9))
    assert snapshot(tmp_path) == expected


def test_deletes_kept_by_a_compaction_hide_a_late_older_update(tmp_path: Path) -> None:
    """A typed delete block in a log of the compaction's own instant, listed in its commit."""
    writer = own_table(tmp_path)
    first = writer.log(t(1), [("a", "old", 1), ("b", "old", 1)], [("gone", 5)])
    commit(writer, 1, 2, first)
    writer.begin(t(3))
    writer.plan(t(4), None, first)
    writer.complete(
        t(4), t(5), writer.base(t(4), [("a", "old", 1), ("b", "old", 1)]), writer.log(t(4), deletes=[("gone", 5)]),
        action="compaction",
    )  # fmt: skip
    writer.complete(t(3), t(6), writer.log(t(3), [("gone", "stale", 4), ("a", "new", 2)]))
    assert snapshot(tmp_path) == {"a": ("new", 2), "b": ("old", 1)}
    commit(writer, 7, 8, writer.log(t(7), [("gone", "back", 6)]))
    assert snapshot(tmp_path)["gone"] == ("back", 6)


def test_partitions_and_several_log_versions(tmp_path: Path) -> None:
    writer = own_table(tmp_path, partition_by=("val",), buckets=2)
    stats = [
        writer.log(
            t(1), [(f"k{bucket}", partition, version)], version=version, partition=f"val={partition}", bucket=bucket
        )
        for partition in ("x", "y z", "ä")
        for bucket in (0, 1)
        for version in (1, 2)
    ]
    commit(writer, 1, 2, *stats)
    assert sorted((row["id"], row["val"], row["ts"]) for row in hudi_rs(tmp_path)) == [
        (f"k{bucket}", partition, 2) for bucket in (0, 1) for partition in ("x", "y z", "ä")]  # fmt: skip


def test_a_delete_that_always_wins(tmp_path: Path) -> None:
    writer = own_table(tmp_path)
    commit(writer, 1, 2, writer.log(t(1), [("a", "1", 100), ("b", "1", 100)]))
    data = encode_deletes(pa.array(["a"]), "", None, t(3), writer.config.log_schema)
    path = str(LogName(bucket_file_id(0), t(3), 1, "0-0-0"))
    writer.storage.put_if_absent(path, data)
    commit(writer, 3, 4, WriteStat(bucket_file_id(0), path, "", len(data), t(3), deletes=1, log_version=1))
    assert snapshot(tmp_path) == {"b": ("1", 100)}


ORDERINGS: dict[pa.DataType, Callable[[int], Any]] = {
    pa.int64(): int,
    pa.int32(): int,
    pa.date32(): lambda n: date(2026, 1, n),
    pa.timestamp("us", "UTC"): lambda n: datetime(2026, 1, n, tzinfo=UTC),
}


@pytest.mark.parametrize("kind", ORDERINGS, ids=str)
def test_ordering_types_are_understood(kind: pa.DataType, tmp_path: Path) -> None:
    """Updates and deletes of 3 meet rows of 2, 3 and 4."""
    value = ORDERINGS[kind]
    schema = pa.schema([("id", pa.string()), ("op", pa.string()), ("ts", kind)])
    config = TableConfig("t", schema, ("id",), ordering="ts", buckets=1)
    storage = open_storage(tmp_path)
    create_table(storage, config)
    writer = Writer(storage, config)

    def put(requested: int, rows: list[tuple[str, str, int]], deletes: list[tuple[str, int]]) -> None:
        stored = [
            {**dict(zip(META_COLUMNS, (t(requested), f"{t(requested)}_0_{n}", key, "", "f"), strict=True)),
             "id": key, "op": op, "ts": value(ts)}
            for n, (key, op, ts) in enumerate(rows)
        ]  # fmt: skip
        table = pa.Table.from_pylist(stored, schema=with_meta(schema))
        data = encode_data(table, "parquet", t(requested), config.log_schema)
        if deletes:
            keys, orderings = pa.array([key for key, _ in deletes]), pa.array([value(ts) for _, ts in deletes], kind)
            data += encode_deletes(keys, "", orderings, t(requested), config.log_schema)
        path = str(LogName(bucket_file_id(0), t(requested), 1, "0-0-0"))
        storage.put_if_absent(path, data)
        commit(
            writer,
            requested,
            requested + 1,
            WriteStat(bucket_file_id(0), path, "", len(data), t(requested), log_version=1),
        )

    keys = [f"{what}{ts}" for what in "ud" for ts in (2, 3, 4)]
    put(1, [(key, "first", int(key[1])) for key in keys], [])
    put(3, [(key, "second", 3) for key in keys if key[0] == "u"], [(key, 3) for key in keys if key[0] == "d"])
    found = {row["id"]: row["op"] for row in hudi_rs(tmp_path)}
    assert found == {"u2": "second", "u3": "second", "u4": "first", "d4": "first"}


@pytest.mark.parametrize("block", ["parquet", "avro"])
def test_columns_of_every_type(block: DataFormat, tmp_path: Path) -> None:
    from decimal import Decimal

    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    values: dict[str, tuple[pa.DataType, Any]] = {
        "b": (pa.bool_(), True), "i": (pa.int32(), -5), "f": (pa.float32(), 1.5), "d": (pa.float64(), 2.5),
        "by": (pa.binary(), b"\x00\xff"), "day": (pa.date32(), date(2026, 1, 2)),
        "us": (pa.timestamp("us", "UTC"), moment), "ms": (pa.timestamp("ms", "UTC"), moment),
        "dec": (pa.decimal128(10, 2), Decimal("-1.25")), "big": (pa.decimal128(30, 5), Decimal("1.00001")),
        "l": (pa.list_(pa.field("element", pa.string())), ["x", None]),
        "m": (pa.map_(pa.string(), pa.int64()), [("k", 1), ("n", None)]),
        "s": (pa.struct([("x", pa.int32()), ("y", pa.list_(pa.field("element", pa.int64())))]), {"x": None, "y": [1]}),
    }  # fmt: skip
    schema = pa.schema([*SCHEMA, *((name, kind) for name, (kind, _) in values.items())])
    config = TableConfig("t", schema, ("id",), ordering="ts", buckets=1)
    storage = open_storage(tmp_path)
    create_table(storage, config)
    full = {"id": "full", "val": "v", "ts": 1, **{name: value for name, (_, value) in values.items()}}
    empty = {**dict.fromkeys(full), "id": "empty", "ts": 1}
    rows = [{**dict(zip(META_COLUMNS, (t(1), f"{t(1)}_0_{n}", row["id"], "", "f"), strict=True)), **row}
            for n, row in enumerate((full, empty))]  # fmt: skip
    data = encode_data(pa.Table.from_pylist(rows, schema=with_meta(schema)), block, t(1), config.log_schema)
    path = str(LogName(bucket_file_id(0), t(1), 1, "0-0-0"))
    storage.put_if_absent(path, data)
    commit(Writer(storage, config), 1, 2, WriteStat(bucket_file_id(0), path, "", len(data), t(1), log_version=1))
    found = {row["id"]: {name: row[name] for name in schema.names} for row in hudi_rs(tmp_path)}
    assert found == {"full": full, "empty": empty}
