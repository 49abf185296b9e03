"""What a process remembers of the archived timeline: no more than a long-lived service can hold."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nbcc.engine.storage import open_storage
from nbcc.engine.timeline import archive_reader, loading, lsm
from nbcc.engine.timeline.archive import Archive
from nbcc.engine.timeline.archive_files import ArchiveFile
from nbcc.engine.timeline.instant import Instant, parse_instant
from nbcc.engine.timeline.loading import Listings
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.archived_tables import answers, grown, reopened
from tests.builders.files import t
from tests.builders.tables import batch, make_table, tick
from tests.builders.timeline_states import archive as write_archive


def test_content_that_is_no_longer_in_memory_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_reader, "ROWS_KEPT", 1)
    table, done = grown(tmp_path)
    before = answers(table, done)
    for retained in (4, 2, 1):
        table.archive(retained=retained)
    fresh = reopened(table)
    assert answers(fresh, done) == before
    archive = fresh.context.commits.archive
    assert len(archive.files()) == 3
    archive.instants()
    assert len(archive._reader._cached) == 1


def test_a_process_forgets_what_a_merge_has_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsm, "LEVEL_FILES", 3)
    table = make_table(tmp_path)
    archive = Archive(table.context.storage)
    for number in range(8):
        table.upsert(batch(("k1", number, f"{number}")))
        table.compact()
        table.archive(retained=1)
        archive.refresh()
        archive.timeline()
    assert archive._reader._cached.keys() == archive._indexes.keys() == set(archive.files())
    paths = {f"{FOLDER}/{instant.file_name}" for instant in table.timeline() if instant.completed}
    assert table.context.commits.decoded.listings.sound == paths


def test_a_listing_parses_only_names_that_the_last_one_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder, parsed = make_table(tmp_path), tmp_path / FOLDER, set[str]()
    table.upsert(batch(("k1", 1, "a")))
    table.context.active()
    before = {path.name for path in folder.iterdir()}

    def parse(name: str) -> Instant | None:
        parsed.add(name)
        return parse_instant(name)

    monkeypatch.setattr(loading, "parse_instant", parse)
    table.upsert(batch(("k1", 2, "b")))
    table.context.active()

    assert {name for name in parsed if parse_instant(name)} == {
        path.name for path in folder.iterdir() if path.is_file()
    } - before


def test_a_torn_instant_is_torn_in_each_listing_until_it_is_whole(tmp_path: Path) -> None:
    table, listings = make_table(tmp_path), Listings()
    table.upsert(batch(("k1", 1, "a")))
    storage = table.context.storage
    instant = next(each for each in listings.active(storage).completed)
    written = Path(tmp_path / FOLDER / instant.file_name)
    content, done = written.read_bytes(), int(instant.completed or 0)
    later = replace(instant, requested=f"{done + 1}", completed=f"{done + 2}")
    torn = written.with_name(later.file_name)
    torn.write_bytes(b"")

    assert listings.active(storage).torn == listings.active(storage).torn == (later,)

    torn.write_bytes(content)
    assert listings.active(storage).torn == ()


def test_an_archived_instant_is_found_by_its_time_and_action(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    write_archive(storage, (2, 4), (6, 8))  # the last instant of a file has a clean at the same time
    archive = Archive(storage)
    archive.instants()
    asked = [Instant(t(n), action, "completed") for n in range(1, 10) for action in ("clean", "commit", "deltacommit")]
    found = {(row.requested, row.action) for instant in asked if (row := archive.row(instant))}
    assert found == {*((t(n), "deltacommit") for n in (2, 4, 6, 8)), (t(4), "clean"), (t(8), "clean")}


def test_a_thread_that_reads_does_not_bring_back_what_another_one_retires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = open_storage(tmp_path)
    write_archive(storage, (2, 4))
    archive = Archive(storage)
    before, read = archive.timeline(), archive._read
    assert before.instants
    write_archive(storage, (2, 4), (6, 8))
    archive.refresh()
    retires = threading.Thread(target=lambda: archive.retire(before.instants, before))

    def read_while_another_retires(wanted: Callable[[ArchiveFile], bool]) -> list[tuple[Instant, ...]]:
        retires.start()
        retires.join(0.2)  # it waits for this thread
        return read(wanted)

    monkeypatch.setattr(archive, "_read", read_while_another_retires)
    assert len(archive.timeline().instants) > len(before.instants)
    retires.join()
    assert archive.retired
    assert not [each for each in archive.timeline().instants if each.key in archive.retired]


HALF = lsm.MERGED_BYTES // 2


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        ([1000] * 9, 0),
        ([1000] * 12, 10),
        ([HALF // 2] * 10, 4),
        ([HALF + 1] * 20, 0),
        ([HALF + 1] * 20 + [1000] * 9, 0),
        ([HALF + 1] * 20 + [1000] * 10, 10),
    ],
)
def test_a_merge_has_a_bound_in_bytes(
    sizes: list[int], merged: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [ArchiveFile(f"{tick(n)}_{tick(n)}_1.parquet", size) for n, size in enumerate(sizes)]
    archive = Archive(open_storage(str(tmp_path)))
    monkeypatch.setattr(archive, "files", lambda: files)
    small = [file for file in files if file.size <= HALF]
    assert lsm.files_to_merge(archive) == small[:merged]
