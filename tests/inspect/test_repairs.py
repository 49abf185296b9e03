"""Each diagnostic has one command: its dry run changes nothing, and the run removes the diagnostic."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.errors import Cleaned
from nbcc.engine.storage import Storage, open_storage
from nbcc.engine.timeline import Instant
from nbcc.simulator.audit import Diagnostic, validate
from nbcc.simulator.audit.text import render
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from tests.builders.commands import nbcc_of
from tests.builders.commands import objects_of as objects
from tests.builders.repairs import equal_completions
from tests.builders.tables import batch, make_table, state, tick

from .corpus.kind import TIMELINE
from .golden import BAD, good_table, instant, log, rename, set_properties


def diagnostics_of(storage: Storage, rule: str) -> list[Diagnostic]:
    return [c for c in validate(storage).diagnostics if c.rule == rule]


def repair(storage: Storage, rule: str, folder: Path) -> None:
    for remedy in dict.fromkeys(diagnostic.remedy for diagnostic in diagnostics_of(storage, rule)):
        assert "nbcc table {table} " in remedy
        words = remedy.partition("nbcc ")[2].format(table=folder).split()
        before = objects(storage)
        dry = nbcc_of(*words, "--dry-run")
        assert dry.exception is None, dry.exception
        assert "would " in dry.stdout
        assert objects(storage) == before, "a dry run changed something"
        did = nbcc_of(*words)
        assert did.exception is None, did.exception
        assert objects(storage) != before
    assert not diagnostics_of(storage, rule), render(validate(storage))


def future_completion(storage: Storage) -> None:
    name = Instant(tick(10), "deltacommit", "completed", "29990101000000000").file_name
    rename(storage, instant(10, 11), f"{TIMELINE}/{name}")


REPAIRED = {
    "log-left-out-of-a-plan": "committed-log-lost",
    "bulk-insert-over-logs": "base-file-over-logs",
    "merged-fewer-than-planned": "compaction-left-logs-out",
    "plan-takes-a-later-log": "log-in-two-slices",
    "two-plans-take-one-log": "log-in-two-slices",
    "plan-without-its-base": "plan-from-old-base",
    "input-of-a-plan-gone": "plan-cannot-run",
    "instant-in-the-future": "future-instant",
    "completed-twice": "completed-twice",
    "superseded-log-gone": "listed-file-missing",
    "completion-lost": "writer-gone",
    "forgotten-write": "orphan-file",
    "partition-not-marked": "partition-metadata-missing",
}


@pytest.mark.parametrize("name", REPAIRED)
def test_a_command_repairs(name: str, good: Storage, tmp_path: Path) -> None:
    BAD[name].do(good)
    repair(good, REPAIRED[name], tmp_path / "t")


def test_a_completion_in_the_future_becomes_one_of_now(good: Storage, tmp_path: Path) -> None:
    future_completion(good)
    repair(good, "future-instant", tmp_path / "t")
    assert validate(good).fine
    Table.open(None, tmp_path / "t").upsert(batch(("k9", 1, "z")))


def test_of_equal_completions_one_gets_the_next_millisecond(good: Storage, tmp_path: Path) -> None:
    equal_completions(good, tmp_path / "t")
    rows = state(Table.open(None, tmp_path / "t").snapshot())
    repair(good, "equal-times", tmp_path / "t")
    assert validate(good).fine, render(validate(good))
    assert state(Table.open(None, tmp_path / "t").snapshot()) == rows


def test_times_are_left_where_the_order_of_others_would_change(good: Storage, tmp_path: Path) -> None:
    for name in ("completed-before-requested", "equal-times"):
        table = good_table(tmp_path / name)
        BAD[name].do(table)
        before = objects(table)
        assert run(["table", str(tmp_path / name), "retime", tick(10)]) == Exit.BAD_INPUT
        assert objects(table) == before
    assert run(["table", str(tmp_path / "t"), "retime", tick(10)]) == Exit.BAD_INPUT  # nothing is wrong there
    assert run(["table", str(tmp_path / "t"), "retime", tick(30)]) == Exit.BAD_INPUT


def test_two_completions_that_say_different_things_are_left(good: Storage, tmp_path: Path) -> None:
    good.put(instant(10, 12), good.get(instant(7, 8)))
    before = objects(good)
    assert run(["table", str(tmp_path / "t"), "retime", tick(10)]) == Exit.BAD_INPUT
    assert objects(good) == before


def test_rows_that_a_plan_left_out_come_back_once(tmp_path: Path) -> None:
    """A key that only the lost log holds is in the snapshot again, a newer row of another key stays."""
    table = make_table(tmp_path / "t")
    table.upsert(batch(("lost", 1, "x"), ("k", 1, "old")))
    table.upsert(batch(("k", 2, "new")))
    storage = table.context.storage
    plan = table.schedule_compaction()
    assert plan is not None
    from .golden import log_left_out_of_a_plan

    log_left_out_of_a_plan(storage)
    table.run_compaction()
    folder = tmp_path / "t"
    assert state(Table.open(None, folder).snapshot()) == {("k", 2, "new")}
    lost = log(1)(storage)
    repair(storage, "committed-log-lost", folder)
    assert state(Table.open(None, folder).snapshot()) == {("k", 2, "new"), ("lost", 1, "x")}
    found = objects(storage)
    assert nbcc_of("table", str(folder), "rewrite", lost).exception is None
    assert objects(storage) == found, "it was written twice"
    again = "/".join([".", *lost.split("/")])
    assert nbcc_of("table", str(folder), "rewrite", again).exception is None
    assert objects(storage) == found, "it was written twice, under another spelling"
    assert validate(storage, opened=True).fine, render(validate(storage))


def test_rows_that_are_seen_are_not_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Against later ones of the same ordering value they would win."""
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k", 1, "old")))
    table.upsert(batch(("k", 1, "new")))
    storage = table.context.storage
    before = objects(storage)
    assert run(["table", str(tmp_path / "t"), "rewrite", log(1)(storage)]) == Exit.BAD_INPUT
    assert "every reader sees them already" in capsys.readouterr().err
    assert objects(storage) == before


def test_the_log_of_another_table_is_not_written_into_this_one(good: Storage, tmp_path: Path) -> None:
    make_table(tmp_path / "other")
    before = objects(open_storage(tmp_path / "other"))
    for path in (f"../t/{log(1)(good)}", f"x/../../t/{log(1)(good)}", str(tmp_path / "t" / log(1)(good))):
        assert run(["table", str(tmp_path / "other"), "rewrite", path]) == Exit.BAD_INPUT, path
    assert objects(open_storage(tmp_path / "other")) == before


def test_a_repair_waits_for_the_lock_that_writers_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of the table's properties, here a file that another machine's writer would have put."""
    options = {"hoodie.write.lock.provider": "FileSystemBasedLockProvider", "hoodie.write.lock.wait_time_ms": "100"}
    table = make_table(tmp_path / "t", options=options)
    table.upsert(batch(("a", 1, "x")))
    plan = table.schedule_compaction()
    assert plan is not None
    table.context.storage.put(".hoodie/lock", b"")
    before = objects(table.context.storage)
    assert run(["table", str(tmp_path / "t"), "plans", "--drop", plan.requested]) == Exit.BAD_INPUT
    assert ".hoodie/lock exists" in capsys.readouterr().err
    assert objects(table.context.storage) == before


def test_reads_that_a_clean_gave_up_are_refused(good: Storage, tmp_path: Path) -> None:
    BAD["superseded-log-gone"].do(good)
    repair(good, "listed-file-missing", tmp_path / "t")
    with pytest.raises(Cleaned):
        Table.open(None, tmp_path / "t").as_of(tick(4))


def test_where_the_later_write_wins_nothing_is_written_again_by_a_command(good: Storage, tmp_path: Path) -> None:
    set_properties(good, hoodie__record__merge__mode="COMMIT_TIME_ORDERING", hoodie__table__ordering__fields=None)
    BAD["log-left-out-of-a-plan"].do(good)
    assert "nbcc table" not in diagnostics_of(good, "committed-log-lost")[0].remedy
    assert run(["table", str(tmp_path / "t"), "rewrite", log(1)(good)]) == Exit.BAD_INPUT
    assert run(["table", str(tmp_path / "t"), "rewrite", "part=p/nothing"]) == Exit.BAD_INPUT


def test_a_pending_instant_of_the_future_whose_writer_lives_is_left(good: Storage, tmp_path: Path) -> None:
    BAD["instant-in-the-future"].do(good)
    good.put(".hoodie/.heartbeat/29990101000000000", b"")
    assert run(["table", str(tmp_path / "t"), "retime", "29990101000000000"]) == Exit.BAD_INPUT
    assert open_storage(tmp_path / "t").get(f"{TIMELINE}/29990101000000000.deltacommit.requested") == b""
