"""Optimistic writers of the engine: which conflict, what an aborted write leaves, what a retry does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.config.concurrency import OPTIMISTIC
from nbcc.engine.errors import BadInput, Conflict
from tests.builders.concurrent_writes import SCHEMA, overtaken


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", partition_by="day", buckets=1,
        concurrency_mode=OPTIMISTIC,
    )  # fmt: skip


def rows(value: str, ts: int = 1, day: str = "mon", keys: str = "ab") -> pa.Table:
    return pa.Table.from_pylist([{"id": k, "day": day, "ts": ts, "value": value} for k in keys], SCHEMA)


def values(table: Table) -> set[str]:
    return set(table.snapshot()["value"].to_pylist())


def test_the_second_of_two_overlapping_writes_gives_way_and_leaves_nothing(table: Table, tmp_path: Path) -> None:
    other = Table.open(None, tmp_path / "t")
    with pytest.raises(Conflict, match=r"requested at .* has written bucket 0 of day=mon and completed at") as aborted:
        overtaken(table, lambda: other.upsert(rows("theirs"))).upsert(rows("ours", ts=2))

    (theirs,) = table.timeline()
    assert aborted.value.against == theirs.requested
    assert values(table) == {"theirs"}
    left = [path.name for path in (tmp_path / "t").rglob("*") if path.is_file() and ".log." in path.name]
    assert left == [f".00000000-0000-0000-0000-000000000000-0_{theirs.requested}.log.1_{left[0].rpartition('_')[2]}"]


def test_a_retry_is_a_new_instant(table: Table, tmp_path: Path) -> None:
    other = Table.open(None, tmp_path / "t")
    twice = [lambda: other.upsert(rows("first")), lambda: other.upsert(rows("second"))]
    done = overtaken(table, *twice).upsert(rows("ours", ts=2), retries=2)
    assert [i.requested for i in table.timeline()][-1] == done.requested
    assert values(table) == {"ours"}
    with pytest.raises(Conflict):
        overtaken(table, *twice).upsert(rows("ours", ts=3), retries=1)


def test_writes_that_share_no_bucket_do_not_meet(table: Table, tmp_path: Path) -> None:
    other = Table.open(None, tmp_path / "t")
    overtaken(table, lambda: other.upsert(rows("theirs", day="tue"))).upsert(rows("ours"))
    assert values(table) == {"ours", "theirs"}


def test_a_compaction_never_stands_against_a_writer(table: Table, tmp_path: Path) -> None:
    table.upsert(rows("old"))
    other = Table.open(None, tmp_path / "t")
    overtaken(table, other.compact).upsert(rows("ours", ts=2))
    assert values(table) == {"ours"}


def test_each_writer_may_open_the_table_in_a_mode_of_its_own(table: Table, tmp_path: Path) -> None:
    other = Table.open(None, tmp_path / "t", concurrency_mode="non_blocking_concurrency_control")
    overtaken(other, lambda: table.upsert(rows("optimistic", ts=2))).upsert(rows("non-blocking"))
    assert len(table.timeline()) == 2
    assert values(table) == {"optimistic"}
    with pytest.raises(BadInput, match="there is no such mode"):
        Table.open(None, tmp_path / "t", concurrency_mode="pessimistic")


def test_rows_that_rest_on_a_read_are_refused_once_that_has_changed(table: Table, tmp_path: Path) -> None:
    seen = table.upsert(rows("old"))
    table.upsert(rows("since", day="tue"))
    table.upsert(rows("elsewhere", ts=2), based_on=seen, reads=["day=mon"])
    with pytest.raises(Conflict, match="bucket 0 of day=tue"):
        table.upsert(rows("computed", ts=3), based_on=seen)
    with pytest.raises(Conflict, match="bucket 0 of day=mon"):
        table.upsert(rows("computed", day="wed"), based_on=seen, reads=["day=mon"], retries=3)
    other = Table.open(None, tmp_path / "t")
    with pytest.raises(Conflict):
        overtaken(table, lambda: other.upsert(rows("new", day="tue"))).upsert(rows("ours", ts=4), reads=["day=tue"])
