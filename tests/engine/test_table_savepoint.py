"""Savepoints: what they pin stays, in Hudi's own file format, until they are dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc import Table
from nbcc.engine.errors import BadInput, Cleaned
from nbcc.engine.timeline.container import decode_record
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.hudi import same
from tests.builders.tables import batch, data_files, files, make_table, state, tick


def grown(folder: Path) -> tuple[Table, str]:
    """Two writes, a savepoint of the second, then two compactions with writes between; when the second completed."""
    table = make_table(folder)
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    pinned = table.upsert(batch(("k1", 2, "c")))
    table.savepoint(comment="before the migration", user="me")
    table.compact()
    table.upsert(batch(("k1", 3, "d")))
    table.compact()
    table.upsert(batch(("k1", 4, "e")))
    assert pinned.completed is not None
    return table, pinned.completed


def test_a_clean_keeps_what_a_savepoint_pins_until_it_is_dropped(tmp_path: Path) -> None:
    table, pinned = grown(tmp_path)
    before, everything = state(table.as_of(pinned)), data_files(table)

    table.clean(retained=1)

    assert state(table.as_of(pinned)) == before
    assert data_files(table) < everything
    with pytest.raises(Cleaned):
        table.incremental(pinned)  # what came between is not kept
    assert same(table)

    table.upsert(batch(("k1", 5, "f")))
    kept = data_files(table)
    table.delete_savepoint()
    with pytest.raises(Cleaned):
        table.as_of(pinned)
    table.clean(retained=1)  # the horizon has passed these files before
    assert data_files(table) < kept
    assert same(table)
    assert table.clean(retained=1) is None


def test_the_file_says_what_hudi_says(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    write = table.upsert(batch(("k1", 1, "a")))

    saved = table.savepoint(write, comment="nightly", user="me")

    assert (saved.action, saved.state, saved.requested) == ("savepoint", "completed", write.requested)
    assert f"{FOLDER}/{saved.requested}.savepoint.inflight" in files(table)
    record = decode_record(table.context.storage.get(f"{FOLDER}/{saved.file_name}"), saved.file_name)
    assert (record["savepointedBy"], record["comments"], record["version"]) == ("me", "nightly", 1)
    named = {
        f"{name}/{file}" if name else file
        for name, part in record["partitionMetadata"].items()
        for file in part["savepointDataFile"]
    }
    assert named == data_files(table)
    assert all(part["partitionPath"] == name for name, part in record["partitionMetadata"].items())
    assert table.settled() == write.completed  # a savepoint may be dropped again


def test_nothing_is_archived_past_a_savepoint(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    first = table.upsert(batch(("k1", 1, "a")))
    table.compact()
    second = table.upsert(batch(("k1", 2, "b")))
    table.savepoint(second)
    for number in range(3, 6):
        table.upsert(batch(("k1", number, "c")))
    table.compact()

    gone = table.archive(retained=1)

    assert first in gone
    assert all(instant.requested < second.requested for instant in gone)
    table.delete_savepoint(second)
    assert second in table.archive(retained=1)


def test_a_savepoint_that_was_half_made_or_half_dropped_can_be_made_and_dropped_again(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    write = table.upsert(batch(("k1", 1, "a")))
    table.context.storage.put_if_absent(f"{FOLDER}/{write.requested}.savepoint.inflight", b"")
    assert table.delete_savepoint().state == "inflight"
    assert [instant.action for instant in table.timeline()] == ["deltacommit"]
    table.context.storage.put_if_absent(f"{FOLDER}/{write.requested}.savepoint.inflight", b"")
    assert table.savepoint().state == "completed"


def test_bad_input_is_refused(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    with pytest.raises(BadInput, match="nothing has completed in this table"):
        table.savepoint()
    with pytest.raises(BadInput, match="the table has no savepoint"):
        table.delete_savepoint()
    write = table.upsert(batch(("k1", 1, "a")))
    with pytest.raises(BadInput, match="no write or compaction with that requested time"):
        table.savepoint(tick(99))
    table.savepoint(write)
    with pytest.raises(BadInput, match="it has one already"):
        table.savepoint(write.requested)
    with pytest.raises(BadInput, match=f"the savepoints are {write.requested}"):
        table.delete_savepoint(tick(99))
