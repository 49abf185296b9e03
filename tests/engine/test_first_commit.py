"""The first commit of a process reads only the instants after a sound state checkpoint, to look for torn files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc import Table
from nbcc.engine.errors import Damaged
from nbcc.engine.storage import NotFound, open_storage
from nbcc.engine.storage.local_storage import LocalStorage
from nbcc.engine.timeline import loading
from nbcc.engine.timeline.state_checkpoint import (
    FOLDER,
    are_sound,
    checkpoint_paths,
    newest_checkpoint,
    put_checkpoint,
)
from nbcc.engine.timeline.timeline import FOLDER as TIMELINE
from tests.builders.state_checkpoints import checkpoint, cold
from tests.builders.tables import batch, make_table

COMMITS = 12
MANY = loading._MANY


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that any process has read. A checkpoint is looked for however short the timeline is."""
    paths: list[str] = []
    get = LocalStorage.get

    def noted(storage: LocalStorage, path: str) -> bytes:
        paths.append(path)
        return get(storage, path)

    monkeypatch.setattr(LocalStorage, "get", noted)
    monkeypatch.setattr(loading, "_MANY", 0)
    return paths


def written(folder: Path, commits: int) -> Table:
    table = make_table(folder)
    for number in range(commits):
        table.upsert(batch((f"k{number % 7}", number, "x")))
    return table


def first_commit(table: Table, read: list[str]) -> list[str]:
    """The names of the completed instants that the first commit of a new process reads."""
    del read[:]
    cold(table).upsert(batch(("new", 1, "x")))
    return [path.rpartition("/")[2] for path in read if path.startswith(f"{TIMELINE}/") and path.endswith("commit")]


@pytest.mark.parametrize("commits", [COMMITS, 3 * COMMITS])
def test_a_first_commit_reads_the_instants_after_the_checkpoint(commits: int, tmp_path: Path, read: list[str]) -> None:
    table = written(tmp_path, commits)
    assert len(first_commit(table, read)) == commits
    checkpoint(table)
    later = [table.upsert(batch(("later", number, "x"))).file_name for number in range(3)]
    assert sorted(first_commit(table, read)) == later
    checkpoint(cold(table))  # derived from the sound one before
    assert first_commit(table, read) == []


def test_a_short_timeline_is_read_without_looking_for_a_checkpoint(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_MANY", MANY)
    table = written(tmp_path, COMMITS)
    checkpoint(table)
    assert len(first_commit(table, read)) == COMMITS
    assert not [path for path in read if path.startswith(FOLDER)]


def unsound(table: Table) -> None:
    """As an older version of nbcc puts it."""
    storage = table.context.storage
    found = newest_checkpoint(storage)
    assert found is not None
    assert found.is_sound
    storage.delete_all(checkpoint_paths(storage))
    put_checkpoint(storage, replace(found, is_sound=False))


def damaged(table: Table) -> None:
    path = checkpoint_paths(table.context.storage)[-1]
    data = table.context.storage.get(path)
    table.context.storage.put(path, data[:-20] + bytes([data[-20] ^ 1]) + data[-19:])


def renamed(table: Table) -> None:
    """Whole, but under the digest of another content."""
    path = checkpoint_paths(table.context.storage)[-1]
    table.context.storage.put(f"{path[:-40]}{0:032}.parquet", table.context.storage.get(path))
    table.context.storage.delete(path)


@pytest.mark.parametrize("change", [unsound, damaged, renamed])
def test_without_a_sound_checkpoint_every_instant_is_read(change: object, tmp_path: Path, read: list[str]) -> None:
    table = written(tmp_path, COMMITS)
    checkpoint(table)
    assert callable(change)
    change(table)
    assert len(first_commit(table, read)) == COMMITS


@pytest.mark.parametrize("cut", [0, 100])
def test_an_instant_that_is_torn_after_the_checkpoint_is_refused(cut: int, tmp_path: Path, read: list[str]) -> None:
    table = written(tmp_path, COMMITS)
    checkpoint(table)
    torn = tmp_path / TIMELINE / table.upsert(batch(("a", 1, "x"))).file_name
    torn.write_bytes(torn.read_bytes()[:cut])
    with pytest.raises(Damaged, match=torn.name):
        first_commit(table, read)


def test_a_checkpoint_is_sound_if_its_instants_are_whole_and_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path, 3)
    storage, instants = table.context.storage, [i for i in table.timeline() if i.completed]
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    assert are_sound(storage, instants)
    assert len(synced) == 3
    assert not are_sound(open_storage(tmp_path, {"durable": False}), instants)
    assert len(synced) == 3
    torn = tmp_path / TIMELINE / instants[1].file_name
    whole = torn.read_bytes()
    torn.write_bytes(whole[:-1])
    assert not are_sound(storage, instants)
    torn.unlink()
    assert not are_sound(storage, instants)
    with pytest.raises(NotFound):
        storage.make_durable(f"{TIMELINE}/{torn.name}")
