"""A table with Apache Hudi's metadata table: the order of the two commits, and how nbcc reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.errors import Unsupported
from nbcc.simulator.lockstep.peers.process import peer

PARTITION = "p0"


def row(key: str, ordering: int, value: str) -> list[Any]:
    return [key, PARTITION, ordering, value, False]


def requested(folder: Path, ending: str) -> set[str]:
    """The requested times of the instants of a timeline whose file names have this ending."""
    return {path.name.partition("_")[0].partition(".")[0] for path in folder.glob(f"[0-9]*{ending}")}


def test_hudi_writes_it_first_and_nbcc_reads_by_listing_and_does_not_write_it(tmp_path: Path) -> None:
    """A pending write is in neither table. A write that is complete in the table is complete in the metadata table."""
    process, folder = peer("hudi", None), str(tmp_path)
    process.ask(
        "create", folder, merge_mode="EVENT_TIME_ORDERING", buckets=1, partitions=[PARTITION],
        more={"hoodie.metadata.enable": "true"},
    )  # fmt: skip
    try:
        for actor, rows in (("w1", [row("a", 1, "first"), row("b", 1, "kept")]), ("w2", [row("a", 2, "second")])):
            process.ask("start", folder, actor=actor)
            process.ask("data", folder, actor=actor, rows=rows)
            process.ask("commit", folder, actor=actor)
        pending = process.ask("start", folder, actor="w3")
        process.ask("data", folder, actor="w3", rows=[row("b", 9, "pending")])
        theirs = {tuple(each[:3]) for each in process.ask("read", folder, kind="snapshot")}
    finally:
        process.ask("forget", folder)
    complete = requested(tmp_path / ".hoodie" / "timeline", ".deltacommit")
    recorded = requested(tmp_path / ".hoodie" / "metadata" / ".hoodie" / "timeline", ".deltacommit")
    assert len(complete) == 2
    assert complete <= recorded
    assert pending not in recorded

    with pytest.warns(UserWarning, match="has a metadata table"):
        table = Table.open(None, tmp_path)
    ours = {(found["id"], found["ts"], found["value"]) for found in table.snapshot().to_pylist()}
    assert ours == theirs == {("a", 2, "second"), ("b", 1, "kept")}
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(Unsupported, match="is active and would hide our commits"):
        table.upsert(pa.table({"id": ["c"], "part": [PARTITION], "ts": [1], "value": ["ours"]}))
    assert sorted(path for path in tmp_path.rglob("*")) == before
