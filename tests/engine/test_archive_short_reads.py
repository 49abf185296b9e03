"""Archiving deletes what it has archived: one short read must not become the only copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.engine import Table, open_table
from nbcc.engine.errors import Damaged, NbccError
from nbcc.engine.storage import Storage, StorageWrapper
from nbcc.engine.timeline import load
from nbcc.engine.timeline.archive_files import encode_table, rows_table
from nbcc.engine.timeline.archive_reader import HISTORY, VERSION
from nbcc.engine.timeline.state_checkpoint import checkpoint_paths
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.tables import batch, context, make_table

Fault = Callable[[str, int, bytes], bytes]
"""From a path, how often it was read, and its content, to what a read returns."""


class Faulty(StorageWrapper):
    """A storage whose reads may come short."""

    def __init__(self, storage: Storage, fault: Fault) -> None:
        super().__init__(storage)
        self._fault = fault
        self.reads: Counter[str] = Counter()

    def get(self, path: str) -> bytes:
        self.reads[path] += 1
        return self._fault(path, self.reads[path], self.inner.get(path))


def with_fault(table: Table, fault: Fault) -> Table:
    return Table(replace(table.context, storage=Faulty(table.context.storage, fault)), table.config)


def compacted(folder: Path) -> Table:
    """Instants of every kind that is archived: writes, compactions, a clean, a rollback."""
    table = make_table(folder)
    for number in range(4):
        table.upsert(batch(("a", number, "x"), (f"k{number}", 1, "y")))
        if number % 2:
            table.compact()
    table.clean(retained=1)
    table.compact()
    return table


def again(table: Table) -> Table:
    """The table of a process that remembers nothing."""
    folder = Path(table.context.storage.url.removeprefix("file://"))
    return open_table(replace(context(folder), clock=table.context.clock))


def files(table: Table) -> list[str]:
    return sorted({entry.path for entry in table.context.storage.list(FOLDER)})


@pytest.mark.parametrize("read", [1, 2, 3])
def test_no_short_read_of_an_instant_or_plan_is_archived(read: int, tmp_path: Path) -> None:
    """17 of 17 tables became unreadable: the whole original was deleted, and the torn copy kept."""
    victims = [path for path in files(compacted(tmp_path / "known")) if "_" in path or path.endswith(".requested")]
    assert len(victims) > 8
    for number, _ in enumerate(victims):
        table = compacted(tmp_path / f"{number}")
        rows = table.snapshot()
        victim = [path for path in files(table) if "_" in path or path.endswith(".requested")][number]

        def short(path: str, times: int, data: bytes, victim: str = victim) -> bytes:
            return data[: len(data) // 2] if path == victim and times == read else data

        try:
            with_fault(table, short).archive(retained=1)
        except NbccError:
            assert victim in files(table), "an instant that could not be read stays where it was"
        fresh = again(table)
        assert fresh.snapshot().equals(rows)
        fresh.archive(retained=1)
        assert again(table).snapshot().equals(rows)
        assert load(table.context.storage).lacks_archived


@pytest.mark.parametrize("where", [".parquet", "manifest_1"])
def test_the_archive_is_read_back_before_anything_is_deleted(where: str, tmp_path: Path) -> None:
    table = compacted(tmp_path)
    rows, before = table.snapshot(), files(table)

    def short(path: str, times: int, data: bytes) -> bytes:
        return data[:-9] if path.startswith(HISTORY) and path.endswith(where) else data

    with pytest.raises(NbccError):
        with_fault(table, short).archive(retained=1)
    assert set(before) <= set(files(table))
    assert again(table).snapshot().equals(rows)
    assert again(table).archive(retained=1) or again(table).snapshot().equals(rows)


def test_what_is_read_back_must_be_what_was_written(tmp_path: Path) -> None:
    """Whole and decodable, and not the same: bytes of another archive."""
    table = compacted(tmp_path)
    other: list[bytes] = []

    def swapped(path: str, times: int, data: bytes) -> bytes:
        if path.startswith(HISTORY) and path.endswith(".parquet"):
            other.append(data)
            archive = table.context.commits.archive
            rows = [row for file in archive.files() for row in archive.rows(file)]
            return encode_table(rows_table(rows[:1]))
        return data

    with pytest.raises(Damaged, match="what was read back is not what was written"):
        with_fault(table, swapped).archive(retained=1)
    assert other


def test_an_original_goes_only_if_the_archive_holds_the_same(tmp_path: Path) -> None:
    """An archiver died between its manifest and its deletes, and the archive holds other bytes."""
    table = compacted(tmp_path)
    rows = table.snapshot()
    originals = {path: table.context.storage.get(path) for path in files(table)}
    archived = table.archive(retained=1)
    path = f"{FOLDER}/{archived[0].file_name}"
    table.context.storage.put(path, originals[path][:-1])
    with pytest.raises(Damaged, match="the archive holds another content"):
        again(table).archive(retained=1)
    table.context.storage.put(path, originals[path])
    assert archived[0] in again(table).archive(retained=1)
    assert again(table).snapshot().equals(rows)


def test_a_file_of_the_archive_has_the_size_that_its_manifest_lists(tmp_path: Path) -> None:
    table = compacted(tmp_path)
    table.archive(retained=1)
    table.context.storage.delete_all(checkpoint_paths(table.context.storage))  # a read would not need the archive
    (path,) = [entry.path for entry in table.context.storage.list(HISTORY) if entry.path.endswith(".parquet")]
    table.context.storage.put(path, table.context.storage.get(path) + b"x")
    with pytest.raises(Damaged, match="and the manifest lists"):
        again(table).snapshot()
    assert table.context.storage.get(VERSION)
