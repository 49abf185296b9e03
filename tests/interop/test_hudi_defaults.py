"""A table that Apache Hudi 1.2.0 makes by its defaults, written by Hudi and nbcc in turns and read by both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.definition.load import load_properties
from nbcc.engine.errors import NotATable, Unsupported
from nbcc.engine.files.metadata_table import metadata_files
from nbcc.engine.storage import open_storage
from nbcc.simulator.lockstep.peers.process import peer

from .readers import by_hudi_rs

DDL = "id string, day string, region string, ts long, value string"
COLUMNS = ("id", "day", "region", "ts", "value")
SCHEMA = pa.schema([(name, pa.int64() if name == "ts" else pa.string()) for name in COLUMNS])
PLACES = (("mon", "eu"), ("mon", "us"), ("tue", "eu"))
METADATA = "hoodie.table.metadata.partitions"
TAKE_OVER = {"nbcc.take.over": "true"}

Row = tuple[str, str, str, int, str]


def batch(turn: int, keys: range) -> list[Row]:
    """Rows of one turn: key n is always in the same partition."""
    return [(f"k{n}", *PLACES[n % len(PLACES)], 100 * turn + n, f"turn {turn}") for n in keys]


def arrow(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], schema=SCHEMA)


def ours(table: Table) -> list[list[Any]]:
    return sorted([row[name] for name in COLUMNS] for row in table.snapshot().to_pylist())


class Turns:
    """The rows that every reader must return, after each turn."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def wrote(self, rows: list[Row]) -> None:
        self._rows |= {row[0]: row for row in rows}

    def deleted(self, rows: list[Row]) -> None:
        for row in rows:
            del self._rows[row[0]]

    @property
    def rows(self) -> list[list[Any]]:
        return sorted(list(row) for row in self._rows.values())


@pytest.mark.parametrize("kind", ["MERGE_ON_READ", "COPY_ON_WRITE"])
def test_both_write_it_in_turns(kind: str, tmp_path: Path) -> None:
    process, folder, turns = peer("hudi"), str(tmp_path), Turns()
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "day,region",
        "hoodie.datasource.write.hive_style_partitioning": str(kind == "MERGE_ON_READ").lower(),
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "3",
    }

    def by_hudi(rows: list[Row]) -> None:
        process.ask("write_by_defaults", folder, rows=rows, columns=DDL, options=options)
        assert "files" in load_properties(open_storage(tmp_path))[METADATA].split(",")
        turns.wrote(rows)

    def check(table: Table) -> None:
        assert process.ask("read_by_defaults", folder, columns=COLUMNS) == turns.rows
        assert ours(table) == turns.rows
        assert {(row[0], row[3], row[4]) for row in turns.rows} == by_hudi_rs(tmp_path)

    process.ask("open", folder)
    try:
        by_hudi(batch(1, range(40)))
        by_hudi(batch(2, range(6, 12)))
        with pytest.warns(UserWarning, match="has a metadata table"):
            reader = Table.open(None, tmp_path)
        check(reader)
        with pytest.raises(Unsupported, match=r"set nbcc\.take\.over=true"):
            reader.upsert(arrow(batch(3, range(3))))

        table = Table.open(None, tmp_path, options=TAKE_OVER)
        for turn in (3, 5, 7):
            rows = batch(turn, range(turn, 40, 2))
            table.upsert(arrow(rows))
            turns.wrote(rows)
            assert METADATA not in load_properties(open_storage(tmp_path))
            check(table)
            gone = batch(turn, range(turn, turn + 4, 2))
            table.delete(arrow(gone))
            turns.deleted(gone)
            check(table)
            if kind == "MERGE_ON_READ" and turn > 3:
                assert table.compact() is not None
                check(table)
            by_hudi(batch(turn + 1, range(turn - 1, turn + 5)))
            check(table)
            listed = {entry.path for entry in metadata_files(open_storage(tmp_path))}
            slices = table.file_slices()
            files = {piece.base.path for piece in slices if piece.base} | {log.path for s in slices for log in s.logs}
            assert files <= listed
    finally:
        process.ask("forget", folder)


def test_hudi_reads_a_table_whose_properties_have_no_checksum(tmp_path: Path) -> None:
    """nbcc refuses it as truncated."""
    process, folder = peer("hudi"), str(tmp_path)
    process.ask("create", folder, merge_mode="EVENT_TIME_ORDERING", buckets=1, partitions=["p0"])
    try:
        process.ask("start", folder, actor="w1")
        process.ask("data", folder, actor="w1", rows=[["k", "p0", 1, "w1", False]])
        process.ask("commit", folder, actor="w1")
        path = tmp_path / ".hoodie" / "hoodie.properties"
        lines = path.read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith("hoodie.table.checksum")]
        assert len(kept) == len(lines) - 1
        path.write_text("".join(kept), "utf-8")
        assert [row[:3] for row in process.ask("read", folder, kind="snapshot")] == [["k", 1, "w1"]]
        with pytest.raises(NotATable):
            Table.open(None, tmp_path)
    finally:
        process.ask("forget", folder)
