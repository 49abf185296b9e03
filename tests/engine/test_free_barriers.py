"""Writes whose requested time is a barrier, without a lock: insert overwrite, delete partition and bulk insert."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine.actions import alter_schema
from nbcc.engine.clock import WallClock, to_millis
from nbcc.engine.config.schemas import schema_versions
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.load import load_properties
from nbcc.engine.errors import Conflict
from nbcc.engine.table import Table
from nbcc.engine.timeline import encode_plan
from nbcc.engine.writes import deciding
from nbcc.engine.writes.unlocked_request import request_at_reserved_time, request_without_lock
from tests.builders.heartbeats import Died, dies
from tests.builders.meanwhile import before_next

from .free_tables import SCHEMA, Hooked, assert_decided_once, eager, keys, made, rows, through


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return made(tmp_path / "t")


def test_an_overwrite_replaces_exactly_what_was_committed_before_its_time(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that commits after the request of the overwrite stays, also if it was requested before."""
    table.upsert(rows("old"))
    pending, _ = request_without_lock(table.context, "deltacommit")
    before_next(monkeypatch, InProcessJobs, "write", lambda: table.upsert(rows("later")))
    done = table.insert_overwrite(rows("new"))
    assert pending < done.requested
    assert keys(table) == ["later", "new"]
    table.upsert(rows("more"))
    assert table.compact() is not None
    assert keys(table) == ["later", "more", "new"]
    assert_decided_once(eagerly_cleaned(table))


def eagerly_cleaned(table: Table) -> Table:
    """The table without pending writes."""
    eager(table).rollback()
    return table


def test_an_overwrite_waits_for_no_other_plan(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that is decided between its entry and its own plan makes it plan again."""
    from nbcc.engine.services import replacing

    table.upsert(rows("a"))
    planned = list[object]()

    def meanwhile(plan: Any) -> bytes:
        if not planned:
            planned.append(table.schedule_compaction())
            table.run_compaction()
        return encode_plan(plan)

    monkeypatch.setattr(replacing, "encode_plan", meanwhile)
    table.insert_overwrite(rows("new"))
    assert planned
    assert keys(table) == ["new"]
    assert_decided_once(table)


def test_two_bulk_inserts_that_read_the_same_time_have_different_ones(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both create the entry with the same number at the same moment, and decide nothing: one of the two fails."""
    other, now = Table.open(None, tmp_path / "t"), to_millis(table.context.clock.read()) + 20
    requests = list[str]()

    def meanwhile() -> None:
        requests.append(request_at_reserved_time(other.context, "deltacommit")[0])

    monkeypatch.setattr(WallClock, "_now", lambda self: now)
    before_next(monkeypatch, deciding, "rival_of", meanwhile)
    requests.append(request_at_reserved_time(table.context, "deltacommit")[0])
    assert len({*requests}) == len(table.context.active().pending) == 2


def test_an_overwrite_is_refused_while_a_compaction_is_pending(table: Table) -> None:
    table.upsert(rows("a"))
    plan = table.schedule_compaction()
    with pytest.raises(Conflict, match=r"the plan \d+ is pending"):
        table.insert_overwrite(rows("new"))
    table.run_compaction(plan)
    table.insert_overwrite(rows("new"))
    assert keys(table) == ["new"]


def test_a_failed_overwrite_leaves_no_plan(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plan is the last entry of the log, and would be published again if it stayed the last one."""
    table.upsert(rows("a"))
    before_next(monkeypatch, InProcessJobs, "write", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        table.insert_overwrite(rows("new"))
    table.upsert(rows("b"))
    assert keys(table) == ["a", "b"]
    assert [instant for instant in table.timeline() if not instant.completed] == []
    assert_decided_once(table)


def test_a_bulk_insert_puts_base_files_at_a_reserved_time(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    done = table.bulk_insert(rows("a", "b"))
    [piece] = table.file_slices()
    assert piece.base is not None
    assert piece.logs == ()
    table.upsert(rows("c"))
    table.bulk_insert(rows("d"))
    assert keys(table) == ["a", "b", "c", "d"]
    assert (done.completed or "") > done.requested
    assert_decided_once(table)


@pytest.mark.parametrize(
    "other",
    [
        lambda table: table.upsert(rows("x")),
        lambda table: table.bulk_insert(rows("x")),
        lambda table: table.insert_overwrite(rows("x")),
    ],
    ids=["upsert", "bulk insert", "insert overwrite"],
)
def test_a_bulk_insert_does_not_hide_what_completes_meanwhile(
    other: Callable[[Table], object], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_next(monkeypatch, InProcessJobs, "write", lambda: other(table))
    with pytest.raises(Conflict, match="has written bucket 0"):
        table.bulk_insert(rows("mine"))
    assert keys(table) == ["x"]
    table.bulk_insert(rows("mine"))
    assert keys(table) == ["mine", "x"]
    assert_decided_once(table)


@pytest.mark.parametrize("ends", [False, True], ids=["stands still", "dies"])
@pytest.mark.parametrize("name", ["insert_overwrite", "bulk_insert"])
def test_a_writer_that_is_stopped_at_any_call(name: str, ends: bool, tmp_path: Path) -> None:
    """Meanwhile another writer commits, which may decide what the first one has announced."""
    at = 1
    while True:
        table = made(tmp_path / f"t{at}")
        if name == "insert_overwrite":
            table.upsert(rows("old"))
        hooked = Hooked(table.context.storage, at, calls=["begins"])

        def meanwhile(table: Table = table) -> None:
            Table.open(None, str(table.context.storage.url)).upsert(rows("x"))
            if ends:
                dies()

        hooked.hook = meanwhile
        try:
            getattr(through(table, hooked), name)(rows("mine"))
            committed = ["mine"]
        except (Conflict, Died):
            committed = []
        if len(hooked.calls) <= at:
            break
        fresh = Table.open(None, str(table.context.storage.url))
        fresh.upsert(rows("y"))
        found = {*keys(fresh)}
        assert {*committed, "y"} <= found <= {"old", "mine", "x", "y"}
        assert "x" in found or ("mine" in found and name == "insert_overwrite")
        if "mine" in found and name == "insert_overwrite":
            assert "old" not in found
        elif name == "insert_overwrite":
            assert "old" in found
        eager(fresh).rollback()
        assert {*keys(fresh)} == found
        assert_decided_once(fresh)
        at += 2
    assert at > 10


def test_columns_are_changed_without_a_lock(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process changes them between the read and the replacement of the properties: both changes are kept."""
    table.upsert(rows("a"))
    more, most = pa.field("more", pa.string()), pa.field("most", pa.string())
    before_next(monkeypatch, alter_schema, "tick", lambda: table.alter_schema(pa.schema([*SCHEMA, most])))
    table.alter_schema(pa.schema([*SCHEMA, more]))
    versions = schema_versions(load_properties(table.context.storage))
    assert [version.schema.names[2:] for version in versions] == [[], ["most"], ["more"]]
    fresh = Table.open(None, str(table.context.storage.url))
    fresh.upsert(pa.table({"id": ["b"], "ts": [1], "more": ["y"]}, pa.schema([*SCHEMA, more])))
    assert fresh.snapshot().column_names[-3:] == ["id", "ts", "more"]
    assert keys(fresh) == ["a", "b"]
    assert_decided_once(fresh)
