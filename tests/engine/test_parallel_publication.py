"""The instants of one entry are published at the same time: what readers ignore, when a writer returns, and options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.config.options import DECISION, PUBLICATION
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import BadInput, Conflict, NotATable, Unsupported
from nbcc.engine.table import Table
from nbcc.engine.timeline.announcements import Announced, Announcement, announced_instants, put_announcement
from nbcc.engine.timeline.decisions import last_entry
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.engine.writes import deciding
from nbcc.engine.writes.commits import write_commit
from nbcc.engine.writes.decision_log import learn_tail
from nbcc.engine.writes.unlocked_request import request_without_lock
from nbcc.simulator.audit.validate import validate

from .free_tables import SCHEMA, assert_decided_once, eager, keys, made, rows

PARALLEL = {DECISION: "free", PUBLICATION: "parallel"}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table.create(
        None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", buckets=1, options=PARALLEL
    )


def opened(table: Table) -> Table:
    return Table.open(None, str(table.context.storage.url))


def two_in_one_entry(table: Table, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Let one entry decide two writes. Returns the paths of the two completed instants, in their order."""
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "create_entry", lambda *_: 1 / 0)  # the first writer dies after its announcement
        with pytest.raises(ZeroDivisionError):
            table.upsert(rows("first"))
    opened(table).upsert(rows("second"))
    last = last_entry(table.context.storage)
    assert last is not None
    first, second = (f"{FOLDER}/{item.instant.file_name}" for item in last.items)
    return first, second


def test_readers_ignore_an_instant_behind_a_missing_one(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.upsert(rows("before"))
    before = table.settled() or ""
    path, _ = two_in_one_entry(table, monkeypatch)
    newest = table.settled() or ""
    content = table.context.storage.get(path)
    table.context.storage.delete(path)
    for reader in (table, opened(table)):
        assert keys(reader) == ["before"]
        assert reader.settled() == before
        assert reader.incremental(before)["id"].to_pylist() == []
    table.context.storage.put_if_absent(path, content)
    assert keys(table) == ["before", "first", "second"]
    assert sorted(table.incremental(before)["id"].to_pylist()) == ["first", "second"]
    assert table.settled() == newest
    assert_decided_once(table)


def test_a_read_as_of_a_time_behind_a_missing_instant_publishes_it(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The announcement of the missing instant is still there: its author has not published the whole entry."""
    forget = "nbcc.engine.writes.announced.forget_announcements"
    monkeypatch.setattr(forget, lambda *_: None)
    path, _ = two_in_one_entry(table, monkeypatch)
    newest = table.settled() or ""
    table.context.storage.delete(path)
    assert sorted(table.as_of(newest)["id"].to_pylist()) == ["first", "second"]
    assert table.context.storage.get(path)


def test_an_actor_that_helps_begins_with_the_last_instant(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbcc.engine.writes.announced.forget_announcements", lambda *_: None)
    paths = two_in_one_entry(table, monkeypatch)
    for path in paths:
        table.context.storage.delete(path)
    puts, put = list[str](), type(table.context.storage).put_if_absent

    def recorded(storage: object, path: str, data: bytes) -> bool:
        puts.append(path)
        return put(storage, path, data)  # type: ignore[arg-type]

    monkeypatch.setattr(type(table.context.storage), "put_if_absent", recorded)
    table.upsert(rows("third"))
    assert [path for path in puts if path in paths] == [*reversed(paths)]
    assert_decided_once(table)


def test_a_writer_returns_only_when_no_earlier_instant_is_missing(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows an older entry than that of its instant, which is on the timeline while an earlier one is missing."""
    table.upsert(rows("before"))
    other = opened(table)
    requested, _ = request_without_lock(other.context, "deltacommit")
    missing = list[str]()

    def decided_by_another(*arguments: Any) -> object:
        """After the listing of the announcements, and before that of the timeline, another writer announces, decides
        both, and dies after it has published the later one.
        """
        names = announced_instants(*arguments)
        if not missing:
            commit = write_commit(other.config, "", "UPSERT", (), {})
            put_announcement(other.context.storage, Announcement(Announced(requested, "deltacommit"), commit))
            with monkeypatch.context() as patched:
                patched.setattr(deciding, "announced_instants", announced_instants)
                patched.setattr(deciding, "learn_tail", learn_tail)
                entry = deciding.own_entry(other.context)
            assert len(entry.items) == 2
            missing.append(f"{FOLDER}/{entry.items[0].instant.file_name}")
            table.context.storage.delete(missing[0])
        return names

    monkeypatch.setattr(deciding, "announced_instants", decided_by_another)
    table.upsert(rows("late"))
    assert table.context.storage.get(missing[0])
    assert keys(table) == ["before", "late"]
    assert_decided_once(table)


def test_its_properties_refuse_readers_that_do_not_know_it(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "t" / PROPERTIES
    text = path.read_text()
    assert "hoodie.table.version=1009" in text
    assert "nbcc.reader.features=completion-order,parallel-publication" in text
    assert opened(table).config.version == 9
    path.write_text(text.replace("completion-order,parallel-publication", "completion-order"))
    with pytest.raises((NotATable, Unsupported)):
        opened(table)
    path.write_text(text.replace("nbcc.publication=parallel", "nbcc.publication=ascending"))
    with pytest.raises(NotATable, match="parallel-publication"):
        opened(table)


@pytest.mark.parametrize("decision", ["lock", "log", "shared"])
def test_writers_that_take_the_lock_publish_in_order(decision: str, tmp_path: Path) -> None:
    options = {DECISION: decision, PUBLICATION: "parallel"}
    with pytest.raises(BadInput, match=f"{PUBLICATION}=parallel"):
        Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", options=options)
    with pytest.raises(BadInput, match="also parallel"):
        made(tmp_path / "u", "free").convert(decision, "parallel")


def test_a_conversion_ends_writers_that_publish_otherwise(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "free")
    for key, publication in (("a", "parallel"), ("b", "ascending"), ("c", "parallel")):
        table.upsert(rows(key))
        stale = opened(table)
        assert table.convert("free", publication)
        assert not table.convert("free", publication)
        assert opened(table).config.coordination.publication == publication
        table.upsert(rows(f"{key}2"))
        with pytest.raises(Conflict, match="open the table again"):
            stale.upsert(rows("stale"))
        eager(table).rollback()
    assert table.convert("lock")
    assert "hoodie.table.version=9\n" in (tmp_path / "t" / PROPERTIES).read_text()
    assert {*keys(opened(table))} - {"stale"} == {"a", "a2", "b", "b2", "c", "c2"}
    assert validate(table.context.storage).diagnostics == ()
