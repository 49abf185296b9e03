"""Apache Hudi and hudi-rs read a table with savepoints, before and after a restore."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.pending import batch_of, make_versioned_table, snapshot_of

from .readers import NEWEST, Rows, by_bundle, by_hudi_rs

READERS = {NEWEST: by_bundle, "hudi-rs": lambda version: by_hudi_rs}


@pytest.fixture(params=READERS)
def read(request: pytest.FixtureRequest) -> Callable[[Path], Rows]:
    return READERS[request.param](request.param)


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
