"""What Apache Hudi and hudi-rs read of a table with a record index: at each step the rows that nbcc reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Conflict, Table
from nbcc.engine.actions import bulk_insert
from nbcc.engine.errors import UnknownKey
from tests.builders.tables import make_table, table_of, with_deletes
from tests.engine.hooked import during

from .readers import NEWEST, by_bundle, by_hudi_rs

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.string())])

PLAIN_PATHS = {"hoodie.datasource.write.hive_style_partitioning": "false"}


def rows(*values: tuple[Any, ...]) -> pa.Table:
    """Rows (id, part, ts, value)."""
    return table_of(SCHEMA, *values)


def test_readers_of_hudi_are_right_at_every_step(tmp_path: Path) -> None:
    table: Table = make_table(tmp_path / "t", schema=SCHEMA, buckets=2, options=PLAIN_PATHS)
    readers = {"Hudi": by_bundle(NEWEST), "hudi-rs": by_hudi_rs}

    def step(name: str, change: Callable[[], Any], refused: type[Exception] | None = None) -> None:
        if refused is None:
            change()
        else:
            with pytest.raises(refused):
                change()
        right = {(row["id"], row["ts"], row["value"]) for row in table.snapshot().to_pylist()}
        for reader, read in readers.items():
            assert read(tmp_path / "t") == right, f"{reader} after {name}"

    step("writes", lambda: table.upsert(rows(("a", "p", 1, "old"), ("b", "p", 1, "old"), ("c", "q", 1, "old"))))
    step("the index", lambda: table.index("RECORD_INDEX"))
    step("an update", lambda: table.upsert(rows(("a", "p", 2, "new"), ("c", "q", 2, "new"))))
    step("a refused insert", lambda: table.upsert(rows(("a", "p", 3, "lost"), ("n", "q", 1, "lost"))), UnknownKey)
    step("a delete", lambda: table.upsert(with_deletes(rows(("b", "p", 2, None)), "value")))
    step("a bulk insert", lambda: table.bulk_insert(rows(("n", "q", 1, "first"), ("m", "r", 1, "first"))))

    def first() -> None:
        step("the first of two bulk inserts", lambda: table.bulk_insert(rows(("x", "q", 1, "first"))))

    second = during(table, ".log.", first)
    step("the second, refused", lambda: second.bulk_insert(rows(("x", "p", 1, "lost"))), Conflict)
    step("an update of inserted keys", lambda: table.upsert(rows(("n", "q", 2, "new"), ("x", "q", 2, "new"))))
    step("a compaction", table.compact)
    step("a deleted key again", lambda: table.upsert(rows(("b", "p", 3, "again"))))
    assert {row["id"] for row in table.snapshot().to_pylist()} == {"a", "b", "c", "m", "n", "x"}


def test_readers_of_hudi_are_right_where_every_write_inserts(tmp_path: Path) -> None:
    """A record that is moved under the lock is in one partition by the time at which its write completes."""
    table: Table = make_table(tmp_path / "t", schema=SCHEMA, buckets=2, options=PLAIN_PATHS)
    table.upsert(rows(("a", "p", 1, "old")))
    table.index("RECORD_INDEX", inserts="moved")
    right: set[tuple[str, int, str]] = set()

    def step(name: str, change: Callable[[], Any]) -> None:
        change()
        right.clear()
        right.update((row["id"], row["ts"], row["value"]) for row in table.snapshot().to_pylist())
        for reader, read in {"Hudi": by_bundle(NEWEST), "hudi-rs": by_hudi_rs}.items():
            assert read(tmp_path / "t") == right, f"{reader} after {name}"

    def first() -> None:
        step("the first of two inserts", lambda: table.upsert(rows(("n", "q", 1, "first"), ("m", "q", 1, "first"))))

    second = during(table, ".log.", first)
    step("the second, moved", lambda: second.upsert(rows(("n", "p", 2, "second"), ("a", "p", 2, "second"))))
    assert right == {("a", 2, "second"), ("n", 2, "second"), ("m", 1, "first")}
    step("a known key with another partition", lambda: table.upsert(rows(("m", "p", 2, "third"))))
    step("a delete", lambda: table.upsert(with_deletes(rows(("n", "p", 3, None)), "value")))
    step("a compaction", table.compact)
    assert right == {("a", 2, "second"), ("m", 2, "third")}


def test_readers_of_hudi_show_a_key_of_two_partitions_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No reader looks into an index: without the check under the lock, a key has two rows for all of them."""
    table: Table = make_table(tmp_path / "t", schema=SCHEMA, options=PLAIN_PATHS)
    table.index("RECORD_INDEX")
    monkeypatch.setattr(bulk_insert, "inserted_elsewhere", lambda *_: None)
    during(table, ".parquet.marker", lambda: table.bulk_insert(rows(("x", "q", 1, "first")))).bulk_insert(
        rows(("x", "p", 2, "second"))
    )
    for read in (by_bundle(NEWEST), by_hudi_rs):
        assert read(tmp_path / "t") == {("x", 1, "first"), ("x", 2, "second")}
