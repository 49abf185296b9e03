"""Savepoints and restores without a lock: entries of the decision log order them among commits, cleans and archiving.

An actor is stopped at every call while another one works, or ends there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nbcc.engine.errors import BadInput, Conflict, NbccError
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.announcements import announced_instants
from nbcc.engine.timeline.restores import RestorePlan
from nbcc.engine.writes import deciding
from nbcc.simulator.audit.validate import validate
from tests.builders.heartbeats import Died, dies
from tests.builders.meanwhile import before_next

from .free_tables import Hooked, keys, made, rows, through

CALLS = 37
"""How many calls a restore sends after its first announcement. A write and a savepoint send fewer."""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    table = made(tmp_path / "t")
    table.upsert(rows("saved"))
    return table


def restores(table: Table) -> tuple[RestorePlan, ...]:
    return table.context.active().restores


def assert_restored_once(table: Table, done: list[Instant]) -> None:
    """The rows are those of the savepoint and of the writes that completed after the restore, and of no other."""
    [plan] = restores(table)
    undone = {requested for requested, _ in plan.undone}
    assert all((instant.completed or "") < plan.requested for instant in done if instant.requested in undone)
    assert all((instant.completed or "") > plan.requested for instant in done if instant.requested not in undone)
    kept = [instant for instant in done if instant.requested not in undone]
    assert len(keys(table)) == 1 + len(kept)
    assert announced_instants(table.context.storage) == []
    assert validate(table.context.storage).diagnostics == ()


def write(table: Table, key: str, done: list[Instant]) -> None:
    """Write a row. The entry of the write may decide the restore of another actor, which undoes what is pending."""
    with suppress(Conflict):
        done.append(table.upsert(rows(key)))


def through_every_call(operation: Callable[[Table], object], table: Table, at: int, hook: Callable[[], object]) -> bool:
    """Run an operation with a `hook` before its call number `at`; return whether it sends so many calls."""
    storage = Hooked(table.context.storage, at, hook)
    operation(through(table, storage))
    return len(storage.calls) > at


def test_a_restore_undoes_what_completed_after_the_savepoint(table: Table) -> None:
    saved = table.savepoint()
    assert saved.completed is not None
    assert saved.completed > max(each.completed or "" for each in table.timeline() if each.action != "savepoint")
    table.upsert(rows("a"))
    table.upsert(rows("b"))
    assert table.restore() is not None
    assert keys(table) == ["saved"]
    table.upsert(rows("c"))
    assert keys(table) == ["c", "saved"]
    assert table.restore() is not None
    assert keys(table) == ["saved"]
    table.delete_savepoint()
    assert validate(table.context.storage).diagnostics == ()


@pytest.mark.parametrize("at", range(CALLS))
def test_a_restorer_that_is_stopped_undoes_what_completed_meanwhile(table: Table, at: int) -> None:
    """Two writes are acknowledged while it stands still: before its entry, or after it."""
    table.savepoint()
    done = [table.upsert(rows("before"))]

    def meanwhile() -> None:
        for key in ("first", "second"):
            write(table, key, done)

    if not through_every_call(Table.restore, table, at, meanwhile):
        pytest.skip("a restore sends fewer calls")
    assert_restored_once(table, done)


@pytest.mark.parametrize("at", range(CALLS))
def test_the_restore_of_a_dead_restorer_is_run_by_another(table: Table, at: int) -> None:
    table.savepoint()
    done = [table.upsert(rows("before"))]
    try:
        if not through_every_call(Table.restore, table, at, dies):
            pytest.skip("a restore sends fewer calls")
    except Died:
        write(table, "meanwhile", done)
        write(table, "later", done)
        other = Table.open(None, table.context.storage.url)
        if not restores(other) or any(not each.completed for each in other.timeline() if each.action == "restore"):
            other.restore()
    write(table, "after", done)
    assert_restored_once(Table.open(None, table.context.storage.url), done)


@pytest.mark.parametrize("at", range(12))
def test_a_write_that_stands_still_is_committed_or_undone(table: Table, at: int) -> None:
    """A restore takes effect while the writer stands still. No actor believes what it publishes again."""
    table.savepoint()
    done = [table.upsert(rows("before"))]
    try:
        if not through_every_call(lambda mine: done.append(mine.upsert(rows("mine"))), table, at, table.restore):
            pytest.skip("a write sends fewer calls")
    except Conflict:
        pass
    assert_restored_once(table, done)


def test_an_instant_that_a_stalled_author_puts_again_is_not_believed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its author has created the entry; another writer publishes it, and a restore undoes it, before its own put."""
    table.savepoint()

    def meanwhile() -> None:
        table.upsert(rows("other"))
        assert keys(table) == ["late", "other", "saved"]
        table.restore()

    before_next(monkeypatch, deciding, "publish_entry", meanwhile)
    table.upsert(rows("late"))
    assert keys(table) == ["saved"]
    table.upsert(rows("after"))
    assert keys(Table.open(None, table.context.storage.url)) == ["after", "saved"]
    table.archive()
    assert [each.action for each in table.timeline() if each.completed].count("deltacommit") == 2


@pytest.mark.parametrize("at", range(15))
def test_a_savepoint_and_a_clean_exclude_each_other(table: Table, at: int) -> None:
    """A clean takes all files that the savepoint needs, unless the savepoint was decided before its plan."""
    pinned = next(each for each in table.timeline() if each.completed)

    def meanwhile() -> None:
        table.compact()
        table.upsert(rows("saved", ts=1))
        table.compact()
        table.clean(retained=1)

    try:
        if not through_every_call(lambda mine: mine.savepoint(pinned), table, at, meanwhile):
            pytest.skip("a savepoint sends fewer calls")
    except NbccError:
        assert not table.context.active().savepoints
        return
    assert table.restore() is not None
    assert table.snapshot()["ts"].to_pylist() == [0]


def test_a_savepoint_that_a_stalled_author_puts_again_is_not_restored(table: Table) -> None:
    """A clean has deleted its files since. A later clean must not name it either."""
    saved, storage = table.savepoint(), table.context.storage
    path = f".hoodie/timeline/{saved.file_name}"
    content = storage.get(path)
    assert table.delete_savepoint() == saved, "although its entry is the last one"
    for ts in (1, 2):
        table.compact()
        table.upsert(rows("saved", ts=ts))
    table.compact()
    assert table.clean(retained=1) is not None
    storage.put(path, content)
    for ts in (3, 4):
        with pytest.raises(BadInput, match="it was deleted before a clean"):
            table.restore()
        table.upsert(rows("saved", ts=ts))
        table.compact()
        assert table.clean(retained=1) is not None
    assert table.snapshot()["ts"].to_pylist() == [4]
    table.delete_savepoint()
