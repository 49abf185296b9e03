"""Apache Hudi and hudi-rs read archived tables, tables with savepoints, and added or widened columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.timeline import lsm
from nbcc.engine.timeline.archive import Archive
from nbcc.simulator.lockstep.peers.process import peer
from nbcc.simulator.lockstep.systems.rows import SCHEMA
from tests.builders.pending import Write, batch_of, make_versioned_table, snapshot_of

from .readers import NEWEST, Rows, by_bundle, by_hudi_rs

READERS: dict[str, Callable[[str], Callable[[Path], Rows]]] = {NEWEST: by_bundle, "hudi-rs": lambda version: by_hudi_rs}


@pytest.fixture(params=READERS)
def read(request: pytest.FixtureRequest) -> Callable[[Path], Rows]:
    return READERS[request.param](request.param)


@pytest.mark.parametrize("version", ["8", "9"])
def test_an_archived_table_reads_alike(
    version: str, read: Callable[[Path], Rows], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsm, "LEVEL_FILES", 2)
    table = make_versioned_table(tmp_path, version)
    table.upsert(batch_of([("p0", "k1", 1, "a"), ("p0", "k2", 5, "b"), ("p1", "k3", 1, "c")]))
    table.compact()
    for number in range(2, 6):
        table.upsert(batch_of([("p0", "k1", number, f"v{number}")]))
        table.upsert(batch_of([("p0", "k2", 9, None)])) if number == 3 else None
        table.compact()
        assert table.archive(retained=1)
        assert read(tmp_path) == snapshot_of(table)
    assert max(file.level for file in Archive(table.context.storage).files()) > 0
    late = Write(table, ("p0", "k2", 7, "late"))
    table.upsert(batch_of([("p1", "k3", 2, "d")]))
    late.commit()
    table.archive(retained=1)
    assert read(tmp_path) == snapshot_of(table) == {("k1", 5, "v5"), ("k3", 2, "d")}


@pytest.mark.parametrize("version", ["8", "9"])
def test_a_restored_table_reads_alike(version: str, read: Callable[[Path], Rows], tmp_path: Path) -> None:
    table = make_versioned_table(tmp_path, version)
    table.upsert(batch_of([("p0", "k1", 1, "a"), ("p0", "k2", 5, "b"), ("p1", "k3", 1, "c")]))
    table.compact()
    table.upsert(batch_of([("p0", "k1", 2, "d")]))
    table.savepoint(comment="before")
    pinned = snapshot_of(table)
    assert read(tmp_path) == pinned
    for number in (3, 4, 5):
        table.upsert(batch_of([("p0", "k1", number, f"v{number}"), ("p0", "k2", 9, None)]))
        table.compact()
    table.clean(retained=1)
    assert read(tmp_path) == snapshot_of(table) != pinned

    table.restore()

    assert read(tmp_path) == snapshot_of(table) == pinned
    table.upsert(batch_of([("p1", "k3", 2, "e")]))
    table.delete_savepoint()
    table.compact()
    table.clean(retained=1)
    assert read(tmp_path) == snapshot_of(table)


START = pa.schema([*SCHEMA, ("n", pa.int32()), ("x", pa.float32())])
CHANGED = pa.schema([*SCHEMA, ("n", pa.int64()), ("x", pa.float64()), ("b", pa.string())])
COLUMNS = ("id", "ts", "value", "n", "x", "b")
LARGE = 1 << 40


def rows(schema: pa.Schema, *values: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([{"part": "p0", "ts": 1, **value} for value in values], schema)


def by_us(table: Table) -> list[list[Any]]:
    return sorted([row[name] for name in COLUMNS] for row in table.snapshot().to_pylist())


def by_hudi(folder: Path) -> list[list[Any]]:
    process = peer("hudi")
    process.ask("open", str(folder))
    try:
        found: list[list[Any]] = process.ask("read", str(folder), kind="snapshot", columns=COLUMNS)
    finally:
        process.ask("forget", str(folder))
    return found


@pytest.mark.parametrize("kind", ["avro", "parquet"])
@pytest.mark.parametrize("version", ["8", "9"])
def test_old_files_are_read_under_the_new_columns(kind: str, version: str, tmp_path: Path) -> None:
    """A base file and a log of before, a log of after, of two keys in one file group; then all of it compacted."""
    options = {"options": {"hoodie.logfile.data.block.format": kind}}
    table = make_versioned_table(tmp_path / "t", version, schema=START, buckets=1, **options)
    table.upsert(rows(START, {"id": "k1", "value": "a", "n": 7, "x": 0.5}))
    table.compact()
    table.upsert(rows(START, {"id": "k2", "value": "b", "n": 8, "x": 1.5}))
    table.alter_schema(CHANGED)
    read = partial(by_hudi, tmp_path / "t")
    old = [["k1", 1, "a", 7, 0.5, None], ["k2", 1, "b", 8, 1.5, None]]
    assert read() == by_us(table) == old

    table.upsert(rows(CHANGED, {"id": "k3", "value": "c", "n": LARGE, "x": 0.1, "b": "new"}))
    now = [*old, ["k3", 1, "c", LARGE, 0.1, "new"]]
    assert read() == by_us(table) == now
    table.compact()
    assert read() == by_us(table) == now
