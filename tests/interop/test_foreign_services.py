"""Apache Hudi compacts a table of nbcc: nbcc detects and reports it, and then reads the table as Hudi does."""

from __future__ import annotations

from pathlib import Path

from nbcc.engine.audit import inspect
from nbcc.simulator.audit import validate
from nbcc.simulator.lockstep.peers.process import peer
from tests.builders.pending import Write, batch_of, make_versioned_table, snapshot_of

from .readers import NEWEST, by_bundle

PARTITION = "p0"


def compacted_by_hudi(folder: Path) -> str:
    """Hudi plans, executes and commits a compaction. Returns its requested time."""
    process = peer("hudi", None)
    process.ask("open", str(folder), merge_mode="EVENT_TIME_ORDERING", buckets=2, partitions=[PARTITION])
    try:
        instant = process.ask("plan", str(folder), actor="c1")
        process.ask("compact", str(folder), actor="c1", instant=instant)
        process.ask("commit_compaction", str(folder), actor="c1")
    finally:
        process.ask("forget", str(folder))
    return str(instant)


def test_a_compaction_of_hudis_puts_its_groups_under_hudis_rules(tmp_path: Path) -> None:
    table = make_versioned_table(tmp_path / "t", "9")
    table.upsert(batch_of([(PARTITION, "k1", 5, "a"), (PARTITION, "k2", 5, "b"), (PARTITION, "k3", 1, "c")]))
    table.upsert(batch_of([(PARTITION, "k2", 7, None)]))
    assert inspect(table.context.storage).notices == ()

    instant = compacted_by_hudi(tmp_path / "t")

    (notice,) = inspect(table.context.storage).notices
    assert f"the compaction {instant} of another engine wrote the base files" in notice
    found = validate(table.context.storage)
    assert {(each.rule, each.gravity) for each in found.diagnostics} == {("marks-disagree", "AT RISK")}
    hudi = by_bundle(NEWEST)
    assert snapshot_of(table) == hudi(tmp_path / "t") == {("k1", 5, "a"), ("k3", 1, "c")}
    # It has forgotten the delete, and folds by request: what comes late, and what ties, shows whose rules they are.
    late = Write(table, (PARTITION, "k1", 5, "requested first"))
    table.upsert(batch_of([(PARTITION, "k2", 6, "late"), (PARTITION, "k1", 5, "requested last")]))
    late.commit()
    assert (
        snapshot_of(table) == hudi(tmp_path / "t") == {("k1", 5, "requested last"), ("k2", 6, "late"), ("k3", 1, "c")}
    )
    assert table.compact() is not None
    assert inspect(table.context.storage).notices == ()
    assert ("k1", 5, "requested last") in snapshot_of(table)


def test_a_replace_of_ours_is_read_by_hudi(tmp_path: Path) -> None:
    table = make_versioned_table(tmp_path / "t", "9")
    table.upsert(batch_of([(PARTITION, key, 5, "old") for key in ("k1", "k2", "k3")]))
    concurrent = Write(table, (PARTITION, "k2", 1, "meanwhile"))
    table.insert_overwrite(batch_of([(PARTITION, "k1", 1, "new")]).drop_columns(["_hoodie_is_deleted"]))
    hudi = by_bundle(NEWEST)
    assert snapshot_of(table) == hudi(tmp_path / "t") == {("k1", 1, "new")}
    concurrent.commit()
    assert snapshot_of(table) == hudi(tmp_path / "t") == {("k1", 1, "new"), ("k2", 1, "meanwhile")}
    table.delete_partition([PARTITION])
    table.upsert(batch_of([(PARTITION, "k4", 1, "again")]))
    assert snapshot_of(table) == hudi(tmp_path / "t") == {("k4", 1, "again")}
