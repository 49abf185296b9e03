"""What other rules than ours do to the operations: settings of protocols, and groups that another engine compacted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc import Table
from nbcc.engine.rules import Rules
from nbcc.engine.timeline import encode_commit, load_commit, load_plan
from tests.builders.tables import batch, keys, make_table, state, tick

from .hooked import during, watched


def under(table: Table, **rules: Any) -> Table:
    """The table as an actor that goes by other rules."""
    return Table(replace(table.context, rules=Rules.from_mapping(rules)), table.config)


def test_a_planner_that_takes_any_log_takes_one_of_a_write_under_way(tmp_path: Path) -> None:
    table = make_table(tmp_path, options={"hoodie.logfile.max.size": "1"})
    table.upsert(batch(("k1", 1, "a")))
    greedy = under(table, plan_takes="any_log")
    during(table, ".log.2_", greedy.schedule_compaction).upsert(batch(("k1", 2, "b"), ("k2", 2, "c")))
    (plan,) = (instant for instant in table.timeline() if instant.action == "compaction")
    (operation,) = load_plan(table.context.storage, plan.requested).operations
    assert [name.split("_")[1] for name in operation.logs] == [f"{tick(1)}.log.1", f"{tick(3)}.log.1"]


def test_a_serial_planner_waits_until_no_write_is_pending(table: Table) -> None:
    plans = []
    table.upsert(batch(("k1", 1, "a")))
    serial = under(table, scheduling="serial")
    during(table, ".log.", lambda: plans.append(serial.schedule_compaction())).upsert(batch(("k1", 2, "b")))
    assert plans == [None]
    assert serial.schedule_compaction() is not None


def test_a_completion_time_may_be_taken_outside_the_lock(table: Table) -> None:
    writer, calls = watched(under(table, completion_time="outside_lock"))
    writer.upsert(batch(("k1", 1, "a")))
    assert [call for call in calls if call in ("acquire", "take", "release")] == [
        *["acquire", "take", "release"],
        *["take", "acquire", "release"],
    ]


def test_compaction_may_drop_tombstones_and_a_late_update_comes_back(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    table.delete(keys(("k1", 5)))
    forgetful = under(table, tombstones="drop")
    during(table, ".log.", forgetful.compact).upsert(batch(("k1", 3, "late")))
    assert state(table.snapshot()) == {("k1", 3, "late")}


def test_a_window_may_be_cut_by_requested_time(table: Table) -> None:
    during(table, ".log.", lambda: table.upsert(batch(("k2", 1, "fast")))).upsert(batch(("k1", 1, "slow")))
    assert table.incremental(tick(3), tick(4)).num_rows == 1
    assert under(table, incremental_axis="requested").incremental(tick(3), tick(4)).num_rows == 0


def test_a_reader_may_list_once_or_read_as_of_the_clock(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    for rules, lists, takes in (({"listing": "once"}, 1, 0), ({"read_time": "clock"}, 2, 1)):
        reader, calls = watched(under(table, **rules))
        assert reader.snapshot().num_rows == 1
        assert (calls.count("list .hoodie/timeline"), calls.count("take")) == (lists, takes)


@pytest.fixture
def served(table: Table) -> Table:
    """A base file by another engine's compaction, and on it two inverted logs that tie on k1."""
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    compacted = table.compact()
    assert compacted is not None
    commit = load_commit(table.context.storage, compacted)
    extra = {name: value for name, value in commit.extra.items() if not name.startswith("nbcc.")}
    path = f".hoodie/timeline/{compacted.file_name}"
    table.context.storage.put(path, encode_commit(replace(commit, extra=extra)))
    during(table, ".log.", lambda: table.upsert(batch(("k1", 2, "fast")))).upsert(batch(("k1", 2, "slow")))
    return Table(replace(table.context), table.config)  # that has not read the commit yet


def test_a_group_that_another_engine_compacted_is_merged_by_hudis_rules(served: Table) -> None:
    assert state(served.snapshot()) == {("k1", 2, "fast"), ("k2", 1, "b")}


def test_our_next_compaction_changes_no_row_of_it_and_puts_it_under_our_rules_again(served: Table) -> None:
    instant = served.schedule_compaction()
    assert instant is not None
    (operation,) = load_plan(served.context.storage, instant.requested).operations
    assert [log.split("_")[1][:17] for log in operation.logs] == sorted(
        log.split("_")[1][:17] for log in operation.logs
    )
    served.run_compaction()
    assert state(served.snapshot()) == {("k1", 2, "fast"), ("k2", 1, "b")}
    during(served, ".log.", lambda: served.upsert(batch(("k2", 2, "fast")))).upsert(batch(("k2", 2, "slow")))
    assert state(served.snapshot()) == {("k1", 2, "fast"), ("k2", 2, "slow")}
