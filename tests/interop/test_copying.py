"""Tables that Apache Hudi 1.2.0 made are copied, written by two writers of nbcc, and read by Hudi again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nbcc import Table, copy_table
from nbcc.simulator.lockstep.peers.process import peer

from .readers import by_hudi_rs

DDL = "id string, day string, region string, ts long, value string"
COLUMNS = ("id", "day", "region", "ts", "value")
PLACES = (("mon", "eu"), ("mon", "us"), ("tue", "eu"))
KEYS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
}
PARTITIONED = {"hoodie.datasource.write.partitionpath.field": "day,region"}
SOURCES = {
    "default": PARTITIONED,
    "merge on read": PARTITIONED | {"hoodie.datasource.write.table.type": "MERGE_ON_READ"},
    "record index": PARTITIONED | {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true"},
    "version 6": {
        "hoodie.datasource.write.partitionpath.field": "day",
        "hoodie.write.table.version": "6",
        "hoodie.write.auto.upgrade": "false",
    },
}

Row = tuple[str, str, str, int, str]


def rows(turn: int, keys: range) -> list[Row]:
    """Rows of one turn: key n is always in the same partition."""
    return [(f"k{n}", *PLACES[n % len(PLACES)], 100 * turn + n, f"turn {turn}") for n in keys]


def arrow(values: list[Row]) -> pa.Table:
    columns = {name: [row[place] for row in values] for place, name in enumerate(COLUMNS)}
    return pa.table(columns)


@pytest.mark.filterwarnings("ignore:nbcc. .* has a metadata table")
@pytest.mark.parametrize("name", SOURCES)
def test_a_table_of_hudi_is_copied_written_by_two_and_read_by_hudi(name: str, tmp_path: Path) -> None:
    process, source, copy = peer("hudi"), tmp_path / "source", tmp_path / "copy"
    process.ask("open", str(source))
    try:
        for turn, keys in ((1, range(40)), (2, range(6, 12))):
            options = KEYS | SOURCES[name]
            process.ask("write_by_defaults", str(source), rows=rows(turn, keys), columns=DDL, options=options)
        expected = process.ask("read_by_defaults", str(source), columns=COLUMNS)
    finally:
        process.ask("forget", str(source))
    copied = copy_table(str(source), str(copy), buckets=2)
    assert (copied.rows, copied.reader) == (40, "hudi-rs" if name == "version 6" else "nbcc")
    one, other = (Table.open(None, copy) for _ in range(2))
    process.ask("open", str(copy))
    try:
        assert process.ask("read_by_defaults", str(copy), columns=COLUMNS) == expected
        one.upsert(arrow(rows(3, range(0, 40, 2))))
        other.upsert(arrow(rows(4, range(1, 40, 2))))
        other.compact()
        one.upsert(arrow(rows(5, range(4))))
        wanted = sorted([*rows(5, range(4)), *rows(3, range(4, 40, 2)), *rows(4, range(5, 40, 2))])
        assert process.ask("read_by_defaults", str(copy), columns=COLUMNS) == [list(row) for row in wanted]
        assert by_hudi_rs(copy) == {(row[0], row[3], row[4]) for row in wanted}
    finally:
        process.ask("forget", str(copy))
