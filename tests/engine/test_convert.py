"""Conversions between the values of nbcc.decision, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbcc.engine.actions import convert
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import BadInput, Conflict, LockTimeout
from nbcc.engine.lock import held
from nbcc.engine.table import Table
from nbcc.engine.timeline.announcements import Announced, Announcement, put_announcement
from nbcc.engine.writes.unlocked_request import request_without_lock
from nbcc.simulator.audit.validate import validate
from nbcc.simulator.cli.main import nbcc

from .free_tables import SCHEMA, keys, made, rows

DECISIONS = ("lock", "log", "shared", "free")


def opened(table: Table) -> Table:
    return Table.open(None, str(table.context.storage.url))


@pytest.mark.parametrize(("before", "after"), [*permutations(DECISIONS, 2)])
def test_a_converted_table_is_written_in_order(before: str, after: str, tmp_path: Path) -> None:
    """Its history is archived before and after, and every completion is later than all before it."""
    table = made(tmp_path / "t", before)
    for key in "abc":
        table.upsert(rows(key))
        table.compact()
    table.archive(1)
    stale, newest = opened(table), table.settled() or ""
    assert table.convert(after)
    assert not table.convert(after)
    assert f"nbcc.decision={after}" in (tmp_path / "t" / PROPERTIES).read_text() or after == "lock"
    for user, key in ((table, "d"), (opened(table), "e")):
        done = user.upsert(rows(key))
        assert (done.completed or "") > newest
        newest = done.completed or ""
        user.compact()
    assert table.archive(1)
    assert keys(opened(table)) == ["a", "b", "c", "d", "e"]
    assert validate(table.context.storage).diagnostics == (), "nbcc validate finds no fault"
    if before in ("shared", "free") and after in ("lock", "shared", "free"):
        with pytest.raises(Conflict, match="open the table again"):
            stale.upsert(rows("stale"))  # it has announced its write, so a new writer may commit it
        assert {*keys(opened(table))} - {"stale"} == {*"abcde"}


def pending(table: Table) -> None:
    request_without_lock(table.context, "deltacommit")


def announced(table: Table) -> None:
    name = Announced(table.timeline()[0].requested, "deltacommit")
    put_announcement(table.context.storage, Announcement(name, b"{}"))


def decided(table: Table) -> None:
    last = table.timeline()[-1]
    table.context.storage.delete(f".hoodie/timeline/{last.file_name}")
    table.context.storage.delete(f".hoodie/timeline/{last.requested}.deltacommit.requested")
    table.context.storage.delete(f".hoodie/timeline/{last.requested}.deltacommit.inflight")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(pending, "is pending"), (announced, "is announced"), (decided, r"the entry \d+ of .* is not published")],
    ids=["pending", "announced", "unpublished"],
)
def test_a_table_in_use_is_not_converted(spoil: Callable[[Table], None], reason: str, tmp_path: Path) -> None:
    table = made(tmp_path / "t", "free")
    table.upsert(rows("a"))
    spoil(table)
    before = (tmp_path / "t" / PROPERTIES).read_text()
    with pytest.raises(Conflict, match=reason):
        table.convert("lock")
    assert (tmp_path / "t" / PROPERTIES).read_text() == before


def test_a_held_lock_and_an_unknown_value_are_refused(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "lock")
    with pytest.raises(BadInput, match="it is lock, log, shared or free"):
        table.convert("quorum")
    options = {"hoodie.write.lock.provider": "InProcessLockProvider", "hoodie.write.lock.wait_time_ms": "1"}
    busy = Table.create(None, tmp_path / "busy", SCHEMA, record_key="id", ordering_fields="ts", options=options)
    with held(busy.context.lock), pytest.raises(LockTimeout):
        busy.convert("free")


def test_an_interrupted_conversion_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(tmp_path / "t", "free")
    table.upsert(rows("a"))
    monkeypatch.setattr(convert, "_replace_properties", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        table.convert("shared")
    monkeypatch.undo()
    with pytest.raises(Conflict, match="its conversion was interrupted"):
        opened(table).upsert(rows("b"))
    assert opened(table).convert("shared")
    opened(table).upsert(rows("c"))
    assert {*keys(opened(table))} - {"b"} == {"a", "c"}


def test_the_command_says_what_it_would_do_and_then_does_it(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "lock")
    table.upsert(rows("a"))

    def ran(*given: str) -> str:
        answer = CliRunner().invoke(nbcc, ["table", str(tmp_path / "t"), "convert", *given], prog_name="nbcc")
        assert answer.exit_code == 0, answer.output
        return answer.output

    assert "would be converted from nbcc.decision=lock to free" in ran("--decision", "free", "--dry-run")
    assert opened(table).config.coordination.decision == "lock"
    assert '"converted": true' in ran("--decision", "free", "--json")
    assert "nbcc.decision is free already" in ran("--decision", "free")
    assert opened(table).config.coordination.decision == "free"
