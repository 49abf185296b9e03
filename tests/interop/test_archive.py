"""Apache Hudi and hudi-rs read a table whose timeline nbcc has archived."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nbcc.engine.timeline import lsm
from nbcc.engine.timeline.archive import Archive
from tests.builders.pending import Write, batch_of, make_versioned_table, snapshot_of

from .readers import NEWEST, Rows, by_bundle, by_hudi_rs

READERS = {NEWEST: by_bundle, "hudi-rs": lambda version: by_hudi_rs}


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
