"""What Apache Hudi and hudi-rs read before, during and after a resize: at each step the rows that nbcc reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.simulator.lockstep.peers.process import peer
from tests.builders.tables import make_table, table_of
from tests.engine.hooked import during

from .readers import NEWEST, by_bundle, by_hudi_rs

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.string())])

PLAIN_PATHS = {"hoodie.datasource.write.hive_style_partitioning": "false"}


def rows(ts: int, value: str, *keys: str, part: str = "p") -> pa.Table:
    return table_of(SCHEMA, *((key, part, ts, value) for key in keys))


class Watched:
    """A table that is read by all readers after each step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table: Table = make_table(folder, schema=SCHEMA, buckets=2, options=PLAIN_PATHS)
        self.readers = {"Hudi": by_bundle(NEWEST), "hudi-rs": by_hudi_rs}

    def step(self, name: str, change: Any) -> Any:
        found = change()
        right = {(row["id"], row["ts"], row["value"]) for row in self.table.snapshot().to_pylist()}
        for reader, read in self.readers.items():
            assert read(self.folder) == right, f"{reader} after {name}"
        return found

    def window(self, after: str, until: str) -> list[str]:
        """The keys that an incremental query of Hudi returns."""
        process = peer("hudi")
        process.ask("open", str(self.folder))
        try:
            answer = process.ask("read", str(self.folder), kind="incremental", after=after, until=until)
        finally:
            process.ask("forget", str(self.folder))
        return sorted(row[0] for row in answer)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "t")


def test_readers_of_hudi_are_right_at_every_step_of_a_resize(watched: Watched) -> None:
    table = watched.table
    watched.step("writes", lambda: table.upsert(rows(1, "old", *(f"k{n}" for n in range(8)))))
    watched.step("a compaction", table.compact)
    first = watched.step("an update", lambda: table.upsert(rows(2, "log", "k1", "k2")))
    watched.step("the plan", lambda: table.run("schedule_resize", buckets=4))

    def late() -> None:
        watched.step("a late log", lambda: table.upsert(rows(3, "late", "k2", "k3", "n1")))
        watched.step("a late log in a new partition", lambda: table.upsert(rows(3, "late", "q1", part="q")))

    def resized() -> Any:
        return watched.step("the resize", lambda: during(table, ".parquet.marker", late).resize())

    written = watched.step("a writer that moved its logs",
                           lambda: during(table, ".log.", resized).upsert(rows(4, "moved", "k3", "k4")))  # fmt: skip
    assert watched.window(first.completed, written.completed) == ["k2", "k3", "k4", "n1", "q1"]
    watched.step("a log in a new group", lambda: table.upsert(rows(5, "after", "k5")))
    watched.step("a compaction of new groups", table.compact)
    watched.step("a merge", lambda: table.resize(1))
    watched.step("a clean", lambda: table.clean(retained=1))
    watched.step("an archive", lambda: table.archive(retained=1))
    watched.step("a split after the merge", lambda: table.resize(3))


def test_a_writer_of_hudi_with_the_new_number_finds_the_new_groups(watched: Watched) -> None:
    table = watched.table
    watched.step("writes", lambda: table.upsert(rows(1, "old", *(f"k{n}" for n in range(8)))))
    watched.step("the resize", lambda: table.resize(4))
    groups = {piece.file_id for piece in table.file_slices()}
    process, folder = peer("hudi"), str(watched.folder)
    process.ask("open", folder, buckets=4)
    try:
        process.ask("start", folder, actor="w1")
        process.ask("data", folder, actor="w1", rows=[["k1", "p", 2, "by Hudi", False]])
        process.ask("commit", folder, actor="w1")
    finally:
        process.ask("forget", folder)
    assert {piece.file_id for piece in table.file_slices()} == groups
    watched.step("a write of Hudi", lambda: None)
    assert "by Hudi" in table.snapshot()["value"].to_pylist()
