"""Repairs of a table whose writers take no lock: those that need the lock are refused, and orphans are moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.errors import Unsupported
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from nbcc.engine.writes import announced
from tests.builders.commands import nbcc_of, objects_of
from tests.builders.heartbeats import Died, dies

from .free_tables import assert_decided_once, eager, keys, made, rows


@pytest.fixture
def table(tmp_path: Path) -> Table:
    table = made(tmp_path / "t")
    table.upsert(rows("a"))
    return table


def test_a_plan_is_not_dropped_under_a_lock_that_excludes_nothing(table: Table, tmp_path: Path) -> None:
    """An author might put the plan again, or complete it, because no writer takes the lock."""
    plan = table.schedule_compaction()
    assert plan is not None
    before = objects_of(table.context.storage)
    refused = nbcc_of("table", str(tmp_path / "t"), "plans", "--drop", plan.requested)
    assert isinstance(refused.exception, Unsupported)
    assert "its writers commit without a lock (nbcc.decision=free)" in str(refused.exception)
    assert objects_of(table.context.storage) == before
    assert table.run_compaction(plan) is not None
    assert_decided_once(table)


def test_orphans_of_a_rolled_back_write_are_moved_without_a_lock(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of a pending write stay: its writer may announce it."""
    monkeypatch.setattr(announced, "_announce", lambda *_: dies())
    with pytest.raises(Died):
        table.upsert(rows("dead"))
    monkeypatch.undo()
    storage = open_storage(tmp_path / "t")
    [pending] = [each for each in table.timeline() if not each.completed]
    files = [each.path for each in storage.list("") if pending.requested in each.path and ".log." in each.path]
    contents = {path: storage.get(path) for path in files if not path.startswith(".hoodie")}
    assert contents
    assert "0 orphans" in nbcc_of("table", str(tmp_path / "t"), "orphans", "--quarantine").stdout
    eager(table).rollback()
    for path, content in contents.items():
        storage.put(path, content)  # as a writer that has stood still
    moved = nbcc_of("table", str(tmp_path / "t"), "orphans", "--quarantine")
    assert moved.exit_code == 0, moved.stderr
    assert not {*contents} & {*objects_of(storage)}
    table.upsert(rows("b"))
    assert keys(table) == ["a", "b"]
    assert_decided_once(table)
