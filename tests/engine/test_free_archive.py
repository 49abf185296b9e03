"""Archiving and the cut without a lock: writers and archivers that stand still while others archive."""

from __future__ import annotations

import builtins
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.engine.errors import Conflict
from nbcc.engine.storage import Entry
from nbcc.engine.storage.recording import Recording
from nbcc.engine.table import Table
from nbcc.engine.timeline import decisions
from nbcc.engine.timeline.announcements import FOLDER as ANNOUNCED
from nbcc.engine.timeline.announcements import Announced, Announcement, announced_instants, put_announcement
from nbcc.engine.timeline.instant import parse_instant
from nbcc.engine.timeline.timeline import FOLDER as TIMELINE
from nbcc.engine.writes.commits import write_commit
from nbcc.simulator.audit.validate import validate
from tests.builders.heartbeats import Died, dies

from .free_tables import Hooked, entries, keys, made, rows, through


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """A table with a history to archive, whose cuts delete entries at once."""
    monkeypatch.setattr(decisions, "PATIENCE_SECONDS", -1.0)
    made_table = made(tmp_path / "t")
    grow(made_table, "a", "b")
    return made_table


def grow(table: Table, *names: str) -> None:
    """Commit a row of each name and compact it, so that the commits can be archived."""
    for name in names:
        table.upsert(rows(name))
        table.compact()


def other(table: Table) -> Table:
    """The table as another process sees it."""
    storage = table.context.storage
    return Table.open(None, str(getattr(storage, "inner", storage).url))


def assert_sound(table: Table, committed: list[str]) -> None:
    """The rows are those of all committed writes, and every instant is completed once, with one time."""
    assert keys(other(table)) == sorted(committed)
    context = other(table).context
    listed = [parse_instant(each.path.rpartition("/")[2]) for each in context.storage.list(TIMELINE)]
    done = {*context.commits.archive_now().instants(), *(each for each in listed if each and each.completed)}
    assert set(Counter(each.requested for each in done).values()) == {1}
    assert validate(context.storage).diagnostics == (), "nbcc validate finds no fault"


def test_archiving_needs_no_lock(table: Table) -> None:
    grow(table, "c")
    before = len(entries(table))
    gone = table.archive(1)
    assert gone
    left = entries(table)
    assert len(left) < before, "the log is cut"
    assert left[-1].floor >= max(each.completed or "" for each in gone)
    assert not {*gone} & {*table.context.active().instants}
    assert_sound(table, ["a", "b", "c"])
    grow(table, "d")
    assert table.archive(1)
    assert_sound(table, ["a", "b", "c", "d"])


def test_a_dry_run_changes_nothing(table: Table) -> None:
    """Neither the version of the archive nor the log."""
    grow(table, "c")
    assert table.archive(1)
    grow(table, "d")
    storage = table.context.storage
    before = {each.path: storage.get(each.path) for each in storage.list(".hoodie")}
    recording = Recording(storage, dry_run=True)
    assert Table(replace(table.context, storage=recording), table.config).archive(1)
    assert {each.path: storage.get(each.path) for each in storage.list(".hoodie")} == before


def test_a_writer_that_stands_still_while_others_archive(table: Table) -> None:
    """Its row is in the table if and only if the writer returns an instant."""
    committed, outcomes = ["a", "b"], set[str]()
    for at in range(60):
        hooked = Hooked(table.context.storage, at)

        def meanwhile(at: int = at) -> None:
            quick = other(table)
            grow(quick, f"x{at}", f"y{at}")
            assert quick.archive(1)
            committed.extend([f"x{at}", f"y{at}"])

        hooked.hook = meanwhile
        try:
            instant = through(table, hooked).upsert(rows(f"mine{at}"))
            outcomes.add("committed" if instant in table.timeline() else "committed and archived")
            committed.append(f"mine{at}")
        except Conflict:
            outcomes.add("refused")
        if len(hooked.calls) <= at:
            break
        grow(table, f"z{at}")
        committed.append(f"z{at}")
        assert_sound(table, committed)
        assert announced_instants(table.context.storage) == []
    else:
        pytest.fail("the writer sends more requests")
    assert "committed and archived" in outcomes


@pytest.mark.parametrize("ends", [False, True], ids=["stands still", "dies"])
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.nightly)])
def test_an_archiver_that_is_stopped_while_others_archive(step: int, ends: bool, table: Table) -> None:
    committed, at = ["a", "b"], 0
    while True:
        hooked = Hooked(table.context.storage, at, calls=["begins"])

        def meanwhile(at: int = at) -> None:
            quick = other(table)
            grow(quick, f"x{at}", f"y{at}")
            quick.archive(1)
            committed.extend([f"x{at}", f"y{at}"])
            if ends:
                dies()

        hooked.hook = meanwhile
        with suppress(Died):
            through(table, hooked).archive(1)
        if len(hooked.calls) <= at:
            break
        grow(table, f"z{at}")
        committed.append(f"z{at}")
        assert_sound(table, committed)
        at += step
    assert at > 20
    table.archive(1)
    assert_sound(table, committed)


class AtManifest(Hooked):
    """A storage that calls the hook before the first put of a manifest."""

    def _call(self, verb: str, path: str) -> None:
        if verb in ("create", "put") and "/manifest_" in path:
            hook, self.hook = self.hook, lambda: None
            hook()


def test_an_archiver_that_stands_still_does_not_replace_the_manifest_of_a_faster_one(table: Table) -> None:
    faster = list[object]()

    def meanwhile() -> None:
        grow(table, "x", "y")
        faster.extend(table.archive(1))

    through(table, AtManifest(table.context.storage, hook=meanwhile)).archive(1)
    assert len(faster) > 2
    assert_sound(table, ["a", "b", "x", "y"])


class Torn(Hooked):
    """A storage whose listings of the timeline come in two pages: the hook is called between them."""

    def list(self, prefix: str) -> list[Entry]:
        if prefix != TIMELINE:
            return super().list(prefix)
        first = [each for each in self.inner.list(prefix) if "_" not in each.path.rpartition("/")[2]]
        self.hook()
        return sorted({*first, *(each for each in self.inner.list(prefix) if "_" in each.path)})

    def paths(self, prefix: str) -> builtins.list[str]:
        return [each.path for each in self.list(prefix)]


def test_an_announcement_that_outlives_its_archived_instant_is_not_decided_again(table: Table) -> None:
    """Its author has died before it deleted it. A listing shows the pending state, and misses the completed one."""
    victim = table.upsert(rows("c"))
    table.compact()
    grow(table, "d")
    late = Announcement(Announced(victim.requested, "deltacommit"), write_commit(table.config, "", "UPSERT", (), {}))
    torn = Torn(table.context.storage)

    def archives() -> None:
        torn.hook = lambda: None
        assert victim in table.archive(1)

    put_announcement(table.context.storage, late)
    torn.hook = archives
    through(table, torn).upsert(rows("e"))
    decided = [item.requested for entry in entries(table) for item in entry.items]
    assert decided.count(victim.requested) <= 1
    assert_sound(table, ["a", "b", "c", "d", "e"])
    assert all(not each.path.endswith(late.name.file_name) for each in table.context.storage.list(ANNOUNCED))


def test_a_request_that_an_archiver_has_passed_takes_a_later_time(table: Table) -> None:
    """Its writer stands still before its request is there, and nothing on the timeline says so."""
    hooked = Hooked(table.context.storage, 0, calls=["begins"])
    stood: list[str] = []

    def put_if_absent(path: str, data: bytes) -> bool:
        if path.endswith(".deltacommit.requested") and not stood:
            stood.append(path)
            grow(table, "x", "y")
            assert table.archive(1)
        return Hooked.put_if_absent(hooked, path, data)

    hooked.put_if_absent = put_if_absent  # type: ignore[method-assign]
    done = through(table, hooked).upsert(rows("mine"))
    assert f"{TIMELINE}/{done.requested}.deltacommit.requested" > stood[0]
    assert_sound(table, ["a", "b", "x", "y", "mine"])


