"""Runners and the tasks of a streaming batch in a table whose writers take no lock."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from nbcc.engine.context import Context
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.announcements import announced_instants
from nbcc.engine.writes import announced
from nbcc.engine.writes.attempts import files_of_other_attempts, forget_markers
from nbcc.engine.writes.commits import write_commit
from nbcc.engine.writes.data_write import publish
from nbcc.engine.writes.idempotency import Repeated
from nbcc.engine.writes.shared_request import ELECTED, forget_elected, shared_request
from tests.builders.meanwhile import before_next

from .free_tables import Hooked, assert_decided_once, eager, keys, made, rows, through


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return made(tmp_path / "t")


def test_a_slow_runner_returns_what_a_faster_one_has_completed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The faster one has removed the files of the slow one, whose announcement finds its name free again."""
    table.upsert(rows("a"))
    plan = table.schedule_compaction()

    def faster() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(announced, "forget_markers", lambda *_: None)  # as if the runner had died before
            table.run_compaction(plan)

    before_next(monkeypatch, announced, "files_of_other_attempts", faster)
    through(table, Hooked(table.context.storage)).run_compaction(plan)
    table.upsert(rows("b"))
    assert keys(table) == ["a", "b"]
    assert_decided_once(table)


def test_a_slow_runner_that_announces_too_late_is_not_decided_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has found no files of another runner. A faster one then removes its files, completes the plan, and deletes the
    announcement, so that the slow one announces files that are gone.
    """
    table.upsert(rows("a"))
    plan = table.schedule_compaction()
    faster = list[Instant | None]()
    before_next(monkeypatch, announced, "put_announcement", lambda: faster.append(table.run_compaction(plan)))
    assert [through(table, Hooked(table.context.storage)).run_compaction(plan)] == faster
    for key in ("b", "c"):
        table.upsert(rows(key))
    assert announced_instants(table.context.storage) == [], "the author of a later entry has deleted it"
    assert keys(table) == ["a", "b", "c"]
    assert_decided_once(table)


def test_a_slow_runner_does_not_delete_the_committed_files_of_a_faster_one(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The faster runner lists before the slow one puts its files. It is stopped after its announcement was deleted, so
    that the slow one finds the name free, and the files of another attempt.
    """
    table.upsert(rows("a"))
    plan, slow = table.schedule_compaction(), through(table, Hooked(table.context.storage))
    has_written, is_committed, found = Event(), Event(), list[Instant | None]()
    runs = Thread(target=lambda: found.append(slow.run_compaction(plan)))

    def lists(context: Context, *given: Any) -> list[str]:
        if context.storage is slow.context.storage:
            has_written.set()
            is_committed.wait(20)
            return files_of_other_attempts(context, *given)
        seen = files_of_other_attempts(context, *given)
        runs.start()
        has_written.wait(20)
        return seen

    def forgets(context: Context, requested: str) -> None:
        is_committed.set()
        if context.storage is not slow.context.storage:
            runs.join(20)
        forget_markers(context, requested)

    monkeypatch.setattr(announced, "files_of_other_attempts", lists)
    monkeypatch.setattr(announced, "forget_markers", forgets)
    faster = table.run_compaction(plan)
    monkeypatch.undo()
    assert found == [faster]
    table.upsert(rows("b"))
    table.upsert(rows("c"))
    assert keys(table) == ["a", "b", "c"]
    assert_decided_once(table)


BATCH, RUN = "query/7", "run 1"


def request(table: Table, run: str = RUN) -> str:
    return shared_request(table.context, "deltacommit", BATCH, run)


def pending(table: Table) -> list[str]:
    return [instant.requested for instant in table.timeline() if not instant.completed]


def test_all_tasks_of_a_run_elect_one_instant(table: Table) -> None:
    """A task stands still at each of its calls, and others of the same and of another run ask meanwhile."""
    for at in range(1, 60):
        hooked, others = Hooked(table.context.storage, at, calls=["begins"]), list[str]()
        run = f"run {at}"

        def ask(run: str = run, others: list[str] = others) -> None:
            others.extend((request(table, run), request(table, "another")))

        hooked.hook = ask
        mine = request(through(table, hooked), run)
        if len(hooked.calls) <= at:
            break
        assert mine == others[0] == request(table, run)
        assert mine != others[1]
        assert pending(table).count(mine) == 1
    assert len(pending(table)) == at + 1, "one of each run: the losers have withdrawn theirs"


def test_an_instant_that_was_rolled_back_is_not_elected_again(table: Table) -> None:
    first = request(table)
    eager(table).rollback()
    second = request(table)
    assert second != first
    assert pending(table) == [second]


def test_a_committed_batch_elects_no_instant(table: Table) -> None:
    requested = request(table)
    commit = partial(write_commit, table.config, requested, "UPSERT")
    publish(
        table.context, table.config, requested, at_request=table.context.active(), files=(), commit=commit,
        batch_id=BATCH,
    )  # fmt: skip
    forget_elected(table.context, BATCH)
    assert table.context.storage.list(ELECTED) == []
    for run in (RUN, "run 2"):
        with pytest.raises(Repeated):
            request(table, run)
    assert pending(table) == []
