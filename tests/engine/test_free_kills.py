"""Writers that announce their commits stop, die or lose an answer at any storage call: each commit is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.table import Table
from nbcc.engine.timeline.announcements import announced_instants
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from nbcc.engine.timeline.decisions import last_entry
from nbcc.engine.writes import deciding
from nbcc.engine.writes.decision_log import cut
from tests.builders.heartbeats import Died, dies
from tests.builders.meanwhile import before_next

from .free_tables import Forgetful, Hooked, assert_decided_once, eager, keys, made, rows, through


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return made(tmp_path / "t")


def calls_of_a_commit(tmp_path: Path, decision: str) -> int:
    table = made(tmp_path / "alone", decision)
    storage = Hooked(table.context.storage)
    through(table, storage).upsert(rows("a"))
    return len(storage.calls)


@pytest.mark.parametrize("decision", ["shared", "free"])
def test_two_writers_that_stop_at_every_call_commit_once(decision: str, tmp_path: Path) -> None:
    """At each call of a commit the first writer stalls, while the second one commits, or dies at each call of its own.
    Then the first one goes on or dies, and a third one and a rollback meet what they left.
    """
    last = calls_of_a_commit(tmp_path, decision)
    assert last >= 8
    for stalls in range(last):
        for stops in range(stalls % 4, last + 1, 4):
            for goes_on in (True, False):
                table = made(tmp_path / f"{decision}-{stalls}-{stops}-{goes_on}", decision)
                acknowledged = _interleaved(table, stalls, stops, goes_on)
                where = f"stalls {stalls}, stops {stops}, goes on {goes_on}"
                third = through(table, Hooked(table.context.storage))
                third.upsert(rows("c"))
                eager(third).rollback()
                there = keys(table)
                assert {*acknowledged, "c"} <= {*there} <= {"a", "b", "c"}, where
                assert len(there) == len({*there}), where
                assert_decided_once(table)
                assert announced_instants(table.context.storage) == [], where
                assert [i for i in table.timeline() if not i.completed] == [], where


def _interleaved(table: Table, stalls: int, stops: int, goes_on: bool) -> list[str]:
    """Let two writers write; return the keys of those that were acknowledged."""
    acknowledged: list[str] = []

    def second() -> None:
        storage = Hooked(table.context.storage, stops, dies)
        try:
            through(table, storage).upsert(rows("b"))
            acknowledged.append("b")
        except Died:
            pass
        if not goes_on:
            raise Died

    try:
        through(table, Hooked(table.context.storage, stalls, second)).upsert(rows("a"))
        acknowledged.append("a")
    except Died:
        pass
    return acknowledged


def test_lost_answers_of_puts_are_recognised(table: Table) -> None:
    other = through(table, Forgetful(table.context.storage))
    for ts in range(3):
        assert other.upsert(rows("k", ts=ts), batch_id=f"b{ts}").completed
    assert other.log_compact() is not None
    assert other.compact() is not None
    other.upsert(rows("k", ts=3))
    assert other.compact() is not None
    assert other.clean(retained=1) is not None
    assert table.snapshot()["ts"].to_pylist() == [3]
    assert_decided_once(table)


def keep_newest_entry(table: Table) -> None:
    """Cut the log behind its newest entry, and delete the others."""
    storage = table.context.storage
    cut(table.context, last_entry(storage))
    for old in storage.list(DECISIONS)[:-1]:
        storage.delete(old.path)


@pytest.mark.parametrize("step", ["rival_of", "is_cut"])
def test_a_frozen_author_that_creates_a_deleted_number_again_decides_nothing_by_it(
    step: str, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its machine stalls before or after its create; meanwhile others commit, and the log is cut behind them."""
    table.upsert(rows("a"))

    def meanwhile() -> None:
        for key in ("b", "c", "d"):
            table.upsert(rows(key))
        keep_newest_entry(table)

    before_next(monkeypatch, deciding, step, meanwhile)
    through(table, Hooked(table.context.storage)).upsert(rows("frozen"))
    table.upsert(rows("e"))
    assert keys(table) == ["a", "b", "c", "d", "e", "frozen"]
    completed = [instant.completed for instant in table.timeline()]
    assert len(completed) == 6
    assert len({*completed}) == 6


def test_a_frozen_author_does_not_believe_the_void_entry_of_another(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two machines stall before their creates of one number, which is deleted meanwhile. The first create succeeds."""
    table.upsert(rows("a"))

    def others() -> None:
        for _ in range(3):
            deciding.decide_announced(table.context, ticks=True)
        keep_newest_entry(table)

    def second() -> None:
        before_next(monkeypatch, deciding, "rival_of", others)
        through(table, Hooked(table.context.storage)).upsert(rows("second"), batch_id="2")

    before_next(monkeypatch, deciding, "rival_of", second)
    done = through(table, Hooked(table.context.storage)).upsert(rows("first"), batch_id="1")
    assert done in table.timeline()
    requested = [instant.requested for instant in table.timeline()]
    assert len(requested) == len({*requested}) == 3
    assert keys(table) == ["a", "first", "second"]
