"""A remedy brings back only rows that must be there: not what was overwritten, deleted, undone or outranked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.engine.audit import gather
from nbcc.engine.audit.log_fates import LogFates
from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC
from nbcc.engine.errors import BadInput, Conflict, Damaged
from nbcc.engine.repair import rewrite_log
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.text import render
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from tests.builders.commands import objects_of as objects
from tests.builders.tables import batch, make_table, state

from ..engine.hooked import during
from .corpus.kind import TIMELINE
from .golden import bulk_insert_over_logs, good_table, log, log_left_out_of_a_plan, rename, set_plan


def during_an_overwrite(table: Table) -> None:
    """A log compaction is planned before an overwrite and completes after it."""
    for number in range(4):
        table.upsert(batch((f"a{number}", 1, "a")))
    table.schedule_log_compaction()
    table.insert_overwrite(batch(("z", 5, "z")))
    table.upsert(batch(("b", 7, "b")))
    table.run_log_compaction()
    table.upsert(batch(("b2", 7, "b")))
    table.compact()


def planned_restore(table: Table) -> None:
    """The runner of a restore dies after its plan; writers and services go on."""
    table.upsert(batch(("a", 1, "a")))
    table.savepoint()
    table.upsert(batch(("b", 1, "b")))
    table.compact()
    table.upsert(batch(("c", 1, "c")))
    assert table.run("schedule_restore")
    table.upsert(batch(("d", 1, "d")))
    table.upsert(batch(("e", 1, "e")))
    table.compact()


def compacted(table: Table) -> None:
    table.upsert(batch(("a", 1, "old")))
    table.upsert(batch(("a", 1, "new")))
    table.compact()
    table.upsert(batch(("b", 1, "b")))


def deleted_partition(table: Table) -> None:
    table.upsert(batch(("a", 1, "private")))
    table.delete_partition(["part=p"])
    table.upsert(batch(("b", 1, "b")))


def log_compacted(table: Table) -> None:
    table.upsert(batch(("a", 2, "old")))
    table.upsert(batch(("a", 2, "new")))
    table.log_compact()


RIGHT: dict[str, Callable[[Table], None]] = {
    "a log compaction completes after an overwrite": during_an_overwrite,
    "a restore is planned and its runner is dead": planned_restore,
    "a log is compacted": compacted,
    "the partition is deleted": deleted_partition,
    "a log compaction has replaced it": log_compacted,
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_table_is_right_and_no_log_of_it_can_be_rewritten(name: str, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    RIGHT[name](table)
    storage = table.context.storage
    found = validate(storage, opened=True)
    assert found.verdict == "OK", render(found)
    rows, before = state(Table.open(None, tmp_path / "t").snapshot()), objects(storage)
    logs = [path for path, file in gather(storage).files.items() if ".log." in path]
    assert logs
    for path in logs:
        assert run(["table", str(tmp_path / "t"), "rewrite", path]) == Exit.BAD_INPUT, path
    assert objects(storage) == before
    assert state(Table.open(None, tmp_path / "t").snapshot()) == rows


def test_of_a_lost_log_only_the_rows_that_win_come_back(tmp_path: Path) -> None:
    """Its row of `tie` completed before one of equal rank; its row of `low` is outranked, that of `high` wins."""
    table = make_table(tmp_path / "t")
    storage = table.context.storage
    table.upsert(batch(("early", 1, "first"), ("high", 1, "first")))
    table.upsert(batch(("tie", 3, "lost"), ("low", 1, "lost"), ("high", 9, "lost"), ("early", 1, "lost")))
    table.upsert(batch(("tie", 3, "kept"), ("low", 2, "kept"), ("high", 4, "kept")))
    plan = table.schedule_compaction()
    assert plan is not None
    lost = log(3)(storage)
    name = lost.rpartition("/")[2]
    operation = table.context.commits.plan(plan.requested).operations[0]
    assert name in operation.logs
    without = replace(operation, logs=tuple(each for each in operation.logs if each != name))
    set_plan(storage, 7, lambda plan: replace(plan, operations=(without,)))
    Table.open(None, tmp_path / "t").run_compaction()
    fate = LogFates(gather(storage)).of(lost)
    assert fate is not None
    assert fate.kind == "lost"
    assert run(["table", str(tmp_path / "t"), "rewrite", lost]) == Exit.AGREES
    rows = state(Table.open(None, tmp_path / "t").snapshot())
    assert rows == {("tie", 3, "kept"), ("low", 2, "kept"), ("high", 9, "lost"), ("early", 1, "lost")}
    assert validate(storage, opened=True).fine


def test_a_lost_delete_deletes_again(tmp_path: Path) -> None:
    """A bulk insert hides two logs; one of them has a delete."""
    storage = good_table(tmp_path / "t")
    bulk_insert_over_logs(storage)
    assert {*Table.open(None, tmp_path / "t").snapshot()["id"].to_pylist()} == {"k1", "k2"}
    for case in validate(storage).diagnostics:
        if case.rule == "base-file-over-logs":
            assert run(["table", str(tmp_path / "t"), "rewrite", case.file]) == Exit.AGREES
    rows = state(Table.open(None, tmp_path / "t").snapshot())
    assert {row[0] for row in rows} == {"k1", "k3"}


def test_while_timeline_files_are_missing_nothing_is_rewritten(tmp_path: Path) -> None:
    """An overwrite whose instant was removed has hidden rows that the log compaction's input seems to lack."""
    table = make_table(tmp_path / "t")
    during_an_overwrite(table)
    storage = table.context.storage
    overwrite = next(r for r, plan in gather(storage).plans.items() if plan.replaces)
    for entry in storage.list(".hoodie/timeline"):
        if overwrite in entry.path.rpartition("/")[2].partition("_")[0]:
            storage.delete(entry.path)
    found = validate(storage)
    assert found.verdict == "BROKEN"
    assert not [d for d in found.diagnostics if "rewrite" in d.remedy], render(found)
    assert any("its timeline files were removed" in d.because for d in found.diagnostics), render(found)
    before = objects(storage)
    for path in [path for path in gather(storage).files if ".log." in path]:
        assert run(["table", str(tmp_path / "t"), "rewrite", path]) == Exit.BAD_INPUT
    assert objects(storage) == before


def test_a_log_that_a_plan_left_out_is_still_found(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(batch(("lost", 1, "x"), ("k", 1, "old")))
    table.upsert(batch(("k", 2, "new")))
    assert table.schedule_compaction()
    log_left_out_of_a_plan(table.context.storage)
    table.run_compaction()
    assert [d.rule for d in validate(table.context.storage).diagnostics if "rewrite" in d.remedy] == [
        "committed-log-lost"
    ]


def test_what_completes_after_the_restore_that_undid_it_is_named(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(batch(("a", 1, "a")))
    table.savepoint()
    undone = table.upsert(batch(("b", 1, "b")))
    assert table.run("schedule_restore")
    storage = table.context.storage
    assert validate(storage).verdict == "OK", render(validate(storage))
    late = replace(undone, completed=table.context.clock.take())
    rename(storage, f"{TIMELINE}/{undone.file_name}", f"{TIMELINE}/{late.file_name}")
    found = validate(storage)
    assert [d.rule for d in found.diagnostics if "REC" in d.promises] == ["undone-and-completed"]


def lost_log(folder: Path, **changes: Any) -> tuple[Table, str]:
    """A table with a log that a plan left out, and the path of the log. Its row is ("k", 3, "lost")."""
    table = make_table(folder, **changes)
    table.upsert(batch(("k", 3, "lost")))
    table.upsert(batch(("other", 1, "x")))
    assert table.schedule_compaction()
    log_left_out_of_a_plan(table.context.storage)
    table.run_compaction()
    [path] = [d.file for d in validate(table.context.storage).diagnostics if "rewrite" in d.remedy]
    return Table.open(None, folder), path


def a_newer_row_of_the_same_rank(table: Table) -> set[Any]:
    table.upsert(batch(("k", 3, "newer")))
    return {("k", 3, "newer"), ("other", 1, "x")}


def an_overwrite(table: Table) -> set[Any]:
    table.insert_overwrite(batch(("z", 1, "z")))
    return {("z", 1, "z")}


def a_deleted_partition(table: Table) -> set[Any]:
    table.delete_partition(["part=p"])
    return set()


def an_older_row(table: Table) -> set[Any]:
    table.upsert(batch(("k", 2, "older")))
    return {("k", 3, "lost"), ("other", 1, "x")}


@pytest.mark.parametrize("mode", [NON_BLOCKING, OPTIMISTIC])
@pytest.mark.parametrize("meanwhile", [a_newer_row_of_the_same_rank, an_overwrite, a_deleted_partition, an_older_row])
@pytest.mark.parametrize("moment", [("get", ".parquet"), ("put", "part=p/.")])
def test_rows_are_chosen_again_if_the_file_group_changes_before_the_lock(
    moment: tuple[str, str], meanwhile: Callable[[Table], set[Any]], mode: str, tmp_path: Path
) -> None:
    """Another process writes while the rows are chosen, or when their new log is about to be written."""
    table, path = lost_log(tmp_path / "t", concurrency_mode=mode)
    expected = set[Any]()
    other = Table.open(None, tmp_path / "t")
    slow = during(table, moment[1], lambda: expected.update(meanwhile(other)), on=moment[0])
    with suppress(BadInput):  # the log need not be rewritten any more
        rewrite_log(slow.context, slow.config, path)
    assert state(Table.open(None, tmp_path / "t").snapshot()) == expected


def test_nothing_is_rewritten_below_a_pending_replace(tmp_path: Path) -> None:
    """The overwrite hides what completed before its plan, so the rewritten row would outlast it."""
    table, path = lost_log(tmp_path / "t")

    def rewrite() -> None:
        with pytest.raises(Conflict, match="is pending, and replaces the file group"):
            rewrite_log(table.context, table.config, path)

    slow = during(Table.open(None, tmp_path / "t"), "part=p/", rewrite, on="put")
    slow.insert_overwrite(batch(("z", 1, "z")))
    assert state(Table.open(None, tmp_path / "t").snapshot()) == {("z", 1, "z")}


def test_a_log_with_a_flipped_bit_is_not_rewritten(tmp_path: Path) -> None:
    table, path = lost_log(tmp_path / "t")
    file = tmp_path / "t" / path
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(Damaged, match="its content differs from the checksum in its commit"):
        rewrite_log(table.context, table.config, path)
