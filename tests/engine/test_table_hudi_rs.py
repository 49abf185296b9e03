"""hudi-rs, which shares no code with us, reads what we write: its snapshot equals ours where no logs are inverted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine.errors import Conflict
from tests.builders.hudi import by_hudi_rs, same
from tests.builders.tables import SCHEMA, batch, keys, make_table, state

from .free_tables import eager
from .hooked import during

SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "not partitioned": {"partition_by": None},
    "hive style off": {"options": {"hoodie.datasource.write.hive_style_partitioning": "false"}},
    "avro blocks": {"options": {"hoodie.logfile.data.block.format": "avro"}},
    "version 8": {"options": {"hoodie.write.table.version": "8"}},
    "a row a file": {"options": {"hoodie.logfile.max.size": "1"}},
    "several buckets": {"buckets": 4},
    "composite key": {"record_key": ["id", "part"]},
    "text ordering": {"ordering_fields": "a", "record_key": ["id"]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_state_of_an_overlapping_history_reads_alike(shape: str, tmp_path: Path) -> None:
    table = make_table(tmp_path, **SHAPES[shape])
    seen: list[bool] = []

    def check() -> None:
        seen.append(same(table))

    table.upsert(batch(*((f"k{n}", 1, f"{n}") for n in range(6))))
    check()
    deletes = batch(("k1", 5, "5"), ("k2", 0, "0")).append_column("_hoodie_is_deleted", [[True, True]])
    table.upsert(deletes)
    check()

    def meanwhile() -> None:
        table.upsert(batch(("k3", 4, "4"), ("k7", 1, "1")))
        check()
        table.schedule_compaction()
        check()

    # Requested before the plan and completed after it: a late log, whose update of k1 must stay hidden permanently.
    during(table, ".log.", meanwhile).upsert(batch(("k1", 3, "3"), ("k4", 6, "6")))
    check()
    table.run_compaction()
    check()
    table.upsert(batch(("k0", 2, "2"), ("k1", 4, "4")))
    check()
    table.compact()
    check()
    table.upsert(batch(("k1", 6, "back")))  # greater than the delete that the compactions kept
    check()
    assert seen == [True] * len(seen)
    assert len(seen) == 9
    if SHAPES[shape].get("ordering_fields") is None:
        expected = {("k0", 2, "2"), ("k1", 6, "back"), ("k3", 4, "4"), ("k4", 6, "6"), ("k5", 1, "5"), ("k7", 1, "1")}
        assert state(table.snapshot()) == {*expected, ("k2", 1, "2")}


def test_commit_time_without_inversion_reads_alike(tmp_path: Path) -> None:
    table = make_table(tmp_path, merge_mode="COMMIT_TIME_ORDERING", ordering_fields=None)
    rows = batch(("k1", 9, "a"), ("k2", 9, "b"), ("k3", 9, "c"))
    table.upsert(rows)
    table.delete(rows.slice(0, 1).select(["id", "part"]))
    assert same(table)
    during(table, ".log.", table.compact).upsert(batch(("k1", 1, "back")))
    assert same(table)
    table.delete(rows.slice(1, 1).select(["id", "part"]))
    table.compact()
    assert same(table)
    assert state(table.snapshot()) == {("k1", 1, "back"), ("k3", 9, "c")}


def test_where_logs_are_inverted_ties_go_to_the_later_request_in_hudi_rs(tmp_path: Path) -> None:
    """docs/contract.md, SNAP: the one difference that stays until the next compaction; ours goes by completion."""
    table = make_table(tmp_path)
    during(table, ".log.", lambda: table.upsert(batch(("k1", 1, "fast")))).upsert(batch(("k1", 1, "slow")))
    assert state(table.snapshot()) == {("k1", 1, "slow")}
    assert state(by_hudi_rs(table)) == {("k1", 1, "fast")}
    table.compact()
    assert state(by_hudi_rs(table)) == {("k1", 1, "slow")}


@pytest.mark.parametrize("block", ["parquet", "avro"])
def test_a_table_of_every_type_reads_alike(block: str, tmp_path: Path) -> None:
    types = [
        pa.field("b", pa.bool_()), pa.field("i", pa.int32()), pa.field("f", pa.float32()), pa.field("d", pa.float64()),
        pa.field("y", pa.binary()), pa.field("day", pa.date32()), pa.field("us", pa.timestamp("us", "UTC")),
        pa.field("ms", pa.timestamp("ms", "UTC")), pa.field("n", pa.decimal128(10, 2)),
        pa.field("big", pa.decimal128(30, 5)), pa.field("l", pa.list_(pa.int64())),
        pa.field("m", pa.map_(pa.string(), pa.int64())),
        pa.field("s", pa.struct([("x", pa.int64()), ("y", pa.string())])),
    ]  # fmt: skip
    schema = pa.schema([*SCHEMA, *types])
    table = make_table(tmp_path, schema=schema, options={"hoodie.logfile.data.block.format": block})
    full = {
        **{"id": "k1", "part": "p", "ts": 1, "a": "é😀", "b": True, "i": -1, "f": 0.5, "d": 1e300, "y": b"\0\xff"},
        **{"day": 20000, "us": 1_700_000_000_000_001, "ms": 1_700_000_000_001, "n": "-12.34", "big": "1.00001"},
        **{"l": [1, None], "m": [("x", 1), ("y", None)], "s": {"x": 1, "y": None}},
    }
    columns = {
        f.name: pa.array([full[f.name]]).cast(f.type) if f.name in ("n", "big") else pa.array([full[f.name]], f.type)
        for f in schema
    }
    table.upsert(pa.table(columns, schema=schema))
    empty = {f.name: pa.array([{"id": "k2", "part": "p", "ts": 1}.get(f.name)], f.type) for f in schema}
    table.upsert(pa.table(empty, schema=schema))
    assert same(table)
    table.compact()
    assert same(table)
    assert by_hudi_rs(table).num_rows == 2


def test_an_empty_commit_reads_alike(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch())
    assert table.snapshot().num_rows == by_hudi_rs(table).num_rows == 0
    table.upsert(batch(("k1", 1, "a")))
    table.delete(keys())
    assert same(table)


def test_a_table_with_rolled_back_writes_reads_alike(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "a")))

    def meanwhile() -> None:
        assert [instant.action for instant in eager(table).rollback()] == ["rollback"]
        assert same(table)

    with pytest.raises(Conflict, match="rolled back"):
        during(table, ".log.", meanwhile).upsert(batch(("k2", 1, "b")))
    assert same(table)
    table.upsert(batch(("k1", 2, "c")))
    table.compact()
    assert same(table)
    assert [row["id"] for row in by_hudi_rs(table).to_pylist()] == ["k1"]
