"""Savepoints and restores by Apache Hudi's SQL procedures on its own tables and nbcc's, which nbcc then reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.simulator.lockstep.peers.process import PeerProcess, peer
from tests.builders.hudi import write
from tests.builders.pending import batch_of, make_versioned_table, snapshot_of

from .readers import NEWEST, Rows, by_bundle, by_hudi_rs


@pytest.fixture
def process() -> PeerProcess:
    return peer("hudi", None)


def theirs(process: PeerProcess, folder: Path) -> Rows:
    return {(key, ordering, value) for key, ordering, value, _ in process.ask("read", str(folder), kind="snapshot")}


def test_a_table_of_hudis_that_hudi_restored_reads_alike(process: PeerProcess, tmp_path: Path) -> None:
    folder = str(tmp_path)
    process.ask("create", folder, merge_mode="EVENT_TIME_ORDERING", buckets=1, partitions=["p0"])
    write(process, tmp_path, ["a", 1, "first"], ["b", 1, "kept"])
    pinned = write(process, tmp_path, ["a", 2, "second"])
    process.ask("procedure", folder, name="create_savepoint", parameters={"commit_time": pinned})
    expected = {("a", 2, "second"), ("b", 1, "kept")}
    assert theirs(process, tmp_path) == snapshot_of(Table.open(None, tmp_path)) == expected
    write(process, tmp_path, ["a", 3, "third"], ["c", 1, "new"])
    process.ask("compact", folder, actor="c1", instant=process.ask("plan", folder, actor="c1"))
    process.ask("commit_compaction", folder, actor="c1")
    write(process, tmp_path, ["b", 2, "later"])
    later = {("a", 3, "third"), ("b", 2, "later"), ("c", 1, "new")}
    assert theirs(process, tmp_path) == snapshot_of(Table.open(None, tmp_path)) == later

    process.ask("procedure", folder, name="rollback_to_savepoint", parameters={"instant_time": pinned})

    assert theirs(process, tmp_path) == snapshot_of(Table.open(None, tmp_path)) == by_hudi_rs(tmp_path) == expected
    process.ask("forget", folder)


def test_a_table_of_ours_that_hudi_restored_reads_alike(process: PeerProcess, tmp_path: Path) -> None:
    """A restore to a savepoint of nbcc, over a compaction of nbcc. nbcc then continues to write."""
    table = make_versioned_table(tmp_path, "9")
    table.upsert(batch_of([("p0", "k1", 1, "a"), ("p0", "k2", 5, "b")]))
    table.upsert(batch_of([("p0", "k1", 2, "c")]))
    pinned = table.savepoint(comment="before")
    expected = snapshot_of(table)
    table.upsert(batch_of([("p0", "k1", 3, "d"), ("p0", "k2", 9, None)]))
    table.compact()
    table.upsert(batch_of([("p0", "k3", 1, "e")]))
    read = by_bundle(NEWEST)
    assert read(tmp_path) == snapshot_of(table) != expected

    process.ask("open", str(tmp_path), merge_mode="EVENT_TIME_ORDERING", buckets=2, partitions=["p0"])
    process.ask("procedure", str(tmp_path), name="rollback_to_savepoint", parameters={"instant_time": pinned.requested})

    again = Table.open(None, tmp_path)
    assert read(tmp_path) == snapshot_of(again) == by_hudi_rs(tmp_path) == expected
    again.upsert(batch_of([("p0", "k2", 6, "f")]))
    assert read(tmp_path) == snapshot_of(again) == {("k1", 2, "c"), ("k2", 6, "f")}
