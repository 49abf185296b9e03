"""Insert overwrite and delete partition: what is hidden, what survives, and what is left when one fails half way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import BadInput, Conflict, Table
from nbcc.engine.errors import Unsupported
from nbcc.engine.reads.windows import ReplacedPartition
from nbcc.engine.timeline import Instant
from tests.builders.heartbeats import Died, Heartbeats
from tests.builders.hudi import same
from tests.builders.tables import SCHEMA, batch, files, make_table, state, tick, window

from .hooked import during

BASE = ".parquet"
OLD = (("k1", 5, "old"), ("k2", 5, "old"), ("k3", 5, "old"))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = make_table(tmp_path, buckets=2)
    made.upsert(batch(*OLD))
    return made


def elsewhere(*rows: tuple[Any, ...]) -> pa.Table:
    """Rows (id, ts, a) of partition q."""
    named = [dict(zip(("id", "part", "ts", "a"), (r[0], "q", *r[1:]), strict=True)) for r in rows]
    return pa.Table.from_pylist(named, SCHEMA)


def test_new_rows_replace_all_older_ones_of_any_ordering_value(table: Table) -> None:
    table.upsert(elsewhere(("k9", 1, "other")))
    before = table.settled()
    instant = table.insert_overwrite(batch(("k1", 1, "new")))
    assert (instant.action, instant.state) == ("commit", "completed")
    assert state(table.snapshot()) == {("k1", 1, "new"), ("k9", 1, "other")}
    assert state(table.read_optimized()) == {("k1", 1, "new")}
    assert state(table.as_of(before or "")) == {*OLD, ("k9", 1, "other")}
    assert same(table)


def test_a_window_and_a_change_log_across_it(table: Table) -> None:
    start = table.settled() or ""
    table.upsert(batch(("k2", 9, "hidden soon")))
    instant = table.insert_overwrite(batch(("k1", 1, "new")))
    table.upsert(batch(("k3", 1, "after")))
    assert window(table.incremental(start)) == {("k1", 1, "new", False), ("k3", 1, "after", False)}
    assert window(table.incremental(start, instant)) == {("k1", 1, "new", False)}
    changes = table.changes(start).to_pylist()
    ops = {(row["op"], (row["before"] or row["after"])["id"]) for row in changes}
    assert ops == {("u", "k1"), ("d", "k2"), ("u", "k3")}
    assert {row["completed"] for row in changes if row["op"] != "u"} == {instant.completed}


def test_a_window_says_what_was_replaced_and_since_when(table: Table) -> None:
    table.upsert(elsewhere(("k9", 1, "other")))
    start = table.settled() or ""
    first = table.insert_overwrite(batch(("k1", 1, "new")))
    between = table.upsert(batch(("k3", 1, "after")))
    second = table.delete_partition(["part=q"])
    assert table.replaced(start) == (
        ReplacedPartition("part=p", first.requested, first.completed or ""),
        ReplacedPartition("part=q", second.requested, second.completed or ""),
    )
    assert table.replaced(start, between) == table.replaced(start)[:1]
    assert table.replaced(between) == table.replaced(start)[1:]
    assert table.replaced(second) == ()
    table.compact()
    table.archive(retained=1)
    assert [each.partition for each in table.replaced(first)] == ["part=q"]


def test_a_copy_is_brought_forward_by_what_was_replaced_and_the_window(table: Table) -> None:
    """From every time that lies in no replace; the copy is rows by partition and key, as a consumer has them."""
    for step in range(6):
        table.upsert(batch((f"k{step}", 1, f"p{step}")))
        table.upsert(elsewhere((f"k{step}", 1, f"q{step}")))
        if step % 2:
            table.insert_overwrite(batch(("k1", 0, f"over {step}")))
        if step == 3:
            table.delete_partition(["part=q"])
    times = [tick(0), *sorted(each.completed for each in table.timeline() if each.completed)]
    latest = times[-1]
    for start in times:
        rows = table.as_of(start).to_pylist() if start != times[0] else []
        gone = {each.partition for each in table.replaced(start)}
        copy = {(r["part"], r["id"]): r["a"] for r in rows if f"part={r['part']}" not in gone}
        for row in table.incremental(start).to_pylist():
            copy[row["part"], row["id"]] = row["a"]
        assert copy == {(r["part"], r["id"]): r["a"] for r in table.as_of(latest).to_pylist()}, start


def test_a_write_that_completes_meanwhile_survives_and_is_compacted_onto_the_new_rows(table: Table) -> None:
    interrupted = during(table, BASE, lambda: table.upsert(batch(("k2", 1, "meanwhile"), ("k4", 1, "meanwhile"))))
    interrupted.insert_overwrite(batch(("k1", 1, "new")))
    rows = {("k1", 1, "new"), ("k2", 1, "meanwhile"), ("k4", 1, "meanwhile")}
    assert state(table.snapshot()) == rows
    assert same(table)
    assert table.compact() is not None
    assert state(table.snapshot()) == rows
    assert same(table)


def test_while_it_is_pending_nothing_changes_and_no_other_process_runs_it(table: Table) -> None:
    seen: list[Any] = []

    def look() -> None:
        seen.extend((state(table.snapshot()), table.run_compaction(), table.compact()))
        with pytest.raises(BadInput, match="no compaction with that requested time"):
            table.run_compaction(tick(3))
        with pytest.raises(Conflict, match=r"the plan 2026\d+ is pending in p"):
            table.delete_partition(["part=p"] if table.config.hive_style else ["p"])

    during(table, BASE, look).insert_overwrite(batch(("k1", 1, "new")))
    assert seen == [set(OLD), None, None]
    assert state(table.snapshot()) == {("k1", 1, "new")}


def test_a_partition_is_deleted_and_written_again(table: Table) -> None:
    path = "part=p" if table.config.hive_style else "p"
    table.upsert(elsewhere(("k9", 1, "other")))
    table.delete_partition([path])
    assert state(table.snapshot()) == {("k9", 1, "other")}
    assert same(table)
    table.upsert(batch(("k1", 1, "again")))
    assert state(table.snapshot()) == {("k9", 1, "other"), ("k1", 1, "again")}
    assert same(table)
    with pytest.raises(BadInput, match=r"the table has .*did you mean") as refused:
        table.delete_partition([f"{path}x"])
    assert refused.value.remedy == f"did you mean {path!r}"


def test_named_partitions_are_emptied_and_others_refused(table: Table) -> None:
    path = "part=p" if table.config.hive_style else "p"
    with pytest.raises(BadInput, match=r"there are rows of .*which is not among them"):
        table.insert_overwrite(elsewhere(("k9", 1, "other")), partitions=[path])
    assert state(table.snapshot()) == set(OLD)
    assert [i.state for i in table.timeline()] == ["completed"]
    table.insert_overwrite(batch(), partitions=[path])
    assert state(table.snapshot()) == set()


@pytest.mark.parametrize("path", ["q/../p", "../q", ".hoodie/timeline", "part=", "", "other=q", 3, None])
def test_what_is_no_path_of_a_partition_is_refused(table: Table, path: Any) -> None:
    there = files(table)
    with pytest.raises(BadInput, match=r"replace the partition .*, but the table is partitioned by part: name a path"):
        table.insert_overwrite(batch(), partitions=[path])
    assert files(table) == there


def test_one_path_needs_no_list(table: Table) -> None:
    path = "part=p" if table.config.hive_style else "p"
    table.insert_overwrite(batch(), partitions=path)
    assert {piece.partition for piece in table.file_slices()} == {path}
    assert state(table.snapshot()) == set()


def test_a_table_without_partitions_is_overwritten_whole(tmp_path: Path) -> None:
    table = make_table(tmp_path, partition_by=None, buckets=4)
    table.upsert(batch(*((f"k{n}", 5, "old") for n in range(20))))
    table.insert_overwrite(batch(("k1", 1, "new")))
    assert state(table.snapshot()) == {("k1", 1, "new")}
    assert same(table)


def test_a_table_without_partitions_has_none_to_name(tmp_path: Path) -> None:
    table = make_table(tmp_path, partition_by=None)
    with pytest.raises(BadInput, match=r"the table has no partitions: leave `partitions` out"):
        table.insert_overwrite(batch(), partitions=["p"])
    assert table.timeline() == ()


def test_one_that_fails_takes_everything_back(table: Table) -> None:
    there = files(table)
    with pytest.raises(BadInput):
        table.insert_overwrite(batch(("k1", None, "no ordering value")))
    assert [path for path in files(table) if path not in there and "metadata" not in path] == []
    assert state(table.snapshot()) == set(OLD)


def test_one_that_died_is_rolled_back_and_its_barrier_with_it(table: Table) -> None:
    heartbeats = Heartbeats()
    table = Table(replace(table.context, own_heartbeats=heartbeats), table.config)

    def die() -> None:
        table.upsert(batch(("k2", 9, "meanwhile")))
        raise Died

    with pytest.raises(Died):
        during(table, BASE, die).insert_overwrite(batch(("k1", 1, "new")))
    rows = {("k1", 5, "old"), ("k2", 9, "meanwhile"), ("k3", 5, "old")}
    assert state(table.snapshot()) == rows
    assert table.rollback() == ()  # its heartbeat has not expired
    (pending,) = [i for i in table.timeline() if i.state != "completed"]
    heartbeats.beating.clear()
    (done,) = table.rollback()
    assert done.action == "rollback"
    assert Instant(pending.requested, "compaction", pending.state) not in table.timeline()
    assert not [path for path in files(table) if pending.requested in path]
    assert state(table.snapshot()) == rows
    assert table.compact() is not None
    assert state(table.snapshot()) == rows


def test_a_clean_counts_it_as_a_write_and_takes_what_it_has_hidden(table: Table) -> None:
    table.insert_overwrite(batch(("k1", 1, "new")))
    last = table.insert_overwrite(batch(("k2", 1, "newer")))
    hidden = [path for path in files(table) if tick(1) in path and ".log." in path]
    assert hidden
    assert table.clean(retained=1) is not None
    assert not set(hidden) & set(files(table))
    assert state(table.as_of(last)) == {("k2", 1, "newer")}


def test_copy_on_write_is_refused(tmp_path: Path) -> None:
    table = make_table(tmp_path, table_type="COPY_ON_WRITE", concurrency_mode="SINGLE_WRITER")
    with pytest.raises(Unsupported, match="the table is COPY_ON_WRITE"):
        table.insert_overwrite(batch(("k1", 1, "a")))


@pytest.fixture
def logged(table: Table) -> Table:
    """The same table, whose commits are decided by a log."""
    return Table(replace(table.context, rules=replace(table.context.rules, decision="log")), table.config)


def test_where_a_log_decides_it_takes_two_numbers(logged: Table) -> None:
    instant = logged.insert_overwrite(batch(("k1", 1, "new")))
    entries = [logged.context.storage.get(path) for path in sorted(files(logged)) if "/decisions/" in path]
    assert [f'"requested": "{instant.requested}"'.encode() in entry for entry in entries] == [True, True]
    assert [b'"kind": "plan"' in entry for entry in entries] == [True, False]
    assert state(logged.snapshot()) == {("k1", 1, "new")}


def test_where_a_log_decides_one_that_fails_does_not_come_back(logged: Table) -> None:
    """Its plan was the last decision; the next decider puts it onto the timeline if it is not there."""
    with pytest.raises(BadInput):
        logged.insert_overwrite(batch(("k1", None, "no ordering value")))
    logged.upsert(batch(("k2", 9, "after")))
    assert all(instant.completed for instant in logged.timeline())
    assert state(logged.snapshot()) == {("k1", 5, "old"), ("k2", 9, "after"), ("k3", 5, "old")}


def test_where_a_log_decides_one_whose_number_is_taken_leaves_nothing(
    logged: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbcc.engine.writes.decision_log.put_decision", lambda storage, decision: False)
    with pytest.raises(Conflict, match="something was decided meanwhile"):
        logged.insert_overwrite(batch(("k1", 1, "new")))
    monkeypatch.undo()
    assert all(instant.completed for instant in logged.timeline())
    assert state(logged.snapshot()) == set(OLD)


def test_an_optimistic_one_gives_way_to_a_write_that_was_faster(table: Table) -> None:
    optimistic = Table(table.context, replace(table.config, concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL"))
    interrupted = during(optimistic, BASE, lambda: table.upsert(batch(("k2", 9, "faster"))))
    with pytest.raises(Conflict, match=r"has written bucket \d") as raised:
        interrupted.insert_overwrite(batch(("k1", 1, "new")))
    assert raised.value.against is not None
    assert all(instant.completed for instant in table.timeline())
    assert state(table.snapshot()) == {("k1", 5, "old"), ("k2", 9, "faster"), ("k3", 5, "old")}
