"""Archiving: what leaves the active timeline, what every read still returns, and which actors get an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nbcc import Table
from nbcc.engine.errors import BadInput, Conflict
from nbcc.engine.storage import NotFound
from nbcc.engine.timeline import Instant, lsm
from nbcc.engine.timeline.archive import Archive
from nbcc.engine.timeline.archive_reader import HISTORY, VERSION
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.engine.writes.commit_protocol import complete, request
from nbcc.engine.writes.commits import write_commit
from nbcc.engine.writes.data_write import write_task
from tests.builders.archived_tables import answers, grown, reopened
from tests.builders.heartbeats import Died, dies
from tests.builders.hudi import same
from tests.builders.tables import batch, files, make_table, state, tick

from .hooked import during


def active(table: Table) -> set[str]:
    return {instant.requested for instant in table.timeline()}


COPIES = {"table_type": "COPY_ON_WRITE", "concurrency_mode": None}


@pytest.mark.parametrize("changes", [{}, {"partition_by": None}, COPIES])
def test_no_read_notices_and_the_timeline_is_short(changes: dict[str, Any], tmp_path: Path) -> None:
    table, done = grown(tmp_path, **changes)
    before = answers(table, done)

    gone = table.archive(retained=2)

    assert len(gone) >= 3
    assert active(table) == {i.requested for i in done} - {i.requested for i in gone}
    names = {path.rpartition("/")[2] for path in files(table) if path.startswith(FOLDER)}
    assert not any(name.startswith(instant.requested) for name in names for instant in gone if "parquet" not in name)
    assert answers(table, done) == answers(reopened(table), done) == before
    assert same(table)
    assert table.archive(retained=2) == ()


def test_the_table_goes_on(tmp_path: Path) -> None:
    table, done = grown(tmp_path)
    table.archive(retained=1)
    other = reopened(table)
    done.append(other.upsert(batch(("k1", 7, "later"))))
    compacted = other.compact()
    assert compacted is not None
    done += [compacted, other.upsert(batch(("k1", 8, "last")))]
    before = answers(other, done)
    assert len(other.archive(retained=1)) >= 2
    assert answers(reopened(other), done) == before
    assert ("k1", 8, "last") in state(other.snapshot())
    cleaned = other.clean(retained=1)
    assert cleaned is not None
    assert other.archive(retained=1) == ()  # the newest clean stays
    assert state(reopened(other).snapshot()) == state(table.snapshot())


def test_writes_whose_logs_are_not_compacted_stay(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in range(4):
        table.upsert(batch(("k1", number, f"{number}")))
    assert table.archive(retained=1) == ()
    table.compact()
    assert len(table.archive(retained=1)) == 4
    assert same(table)


def test_nothing_goes_that_a_pending_instant_may_need(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "1")))
    table.compact()
    found: list[tuple[Instant, ...]] = []

    def meanwhile() -> None:
        table.upsert(batch(("k1", 2, "2")))
        table.compact()
        found.append(table.archive(retained=1))

    during(table, ".log.", meanwhile).upsert(batch(("k2", 1, "slow")))

    ((first, second),) = found
    assert (first.requested, second.requested) == (tick(1), tick(3))
    assert len(table.archive(retained=1)) == 0  # the slow write's log is in the newest slice
    table.compact()
    assert len(table.archive(retained=1)) == 3


def test_what_completed_since_a_pending_write_began_stays(tmp_path: Path) -> None:
    """An optimistic writer finds the write that was requested before it and completed after it began."""
    table = make_table(tmp_path, table_type="COPY_ON_WRITE", concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    context, config = table.context, table.config
    early, at_request = request(context, "commit")
    files = context.jobs.write(batch(("k1", 1, "early")), write_task(context, config, early, at_request))
    archived: list[Any] = []

    def meanwhile() -> None:
        complete(context, early, "commit", files=files, commit=write_commit(config, early, "UPSERT", files))
        table.upsert(batch(("k2", 1, "other")))
        archived.append(table.archive(retained=1))

    with pytest.raises(Conflict, match=f"the commit requested at {early}"):
        during(table, ".parquet", meanwhile).upsert(batch(("k1", 2, "late")))
    assert archived == [()]


def test_manifest_first_deletes_afterwards(tmp_path: Path) -> None:
    table, done = grown(tmp_path)
    before = state(table.snapshot())
    seen: list[bool] = []

    storage = table.context.storage
    dying = during(table, "_version_", dies, on="get")
    with pytest.raises(Died):
        dying.archive(retained=1)
    assert active(table) == {instant.requested for instant in done}
    kept = {entry.path: storage.get(entry.path) for entry in storage.list(FOLDER)}
    gone = table.archive(retained=1)
    for path, content in kept.items():  # as if the archiver had died before its first delete
        storage.put_if_absent(path, content)
        seen.append(state(reopened(table).snapshot()) == before)
    assert all(seen)
    assert table.archive(retained=1) == gone  # what was left on both is taken off
    assert Archive(storage).version() == 1
    assert state(reopened(table).snapshot()) == before


def test_an_archiver_that_died_before_its_manifest_left_nothing_that_counts(tmp_path: Path) -> None:
    table, done = grown(tmp_path)
    storage = table.context.storage
    storage.put_if_absent(f"{HISTORY}/{tick(1)}_{tick(3)}_0.parquet", b"half of a file")
    before = answers(table, done)
    assert table.archive(retained=1)
    assert answers(reopened(table), done) == before


def test_files_of_a_level_are_merged_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsm, "LEVEL_FILES", 3)
    table = make_table(tmp_path)
    done: list[Instant] = []
    for number in range(10):
        done.append(table.upsert(batch(("k1", number, f"{number}"))))
        table.compact()
        table.archive(retained=1)
    archive = Archive(table.context.storage)
    assert max(file.level for file in archive.files()) == 2
    assert all(len(found) < 3 for found in lsm.levels(archive).values())
    manifest = json.loads(table.context.storage.get(f"{HISTORY}/manifest_{archive.version()}"))
    sizes = {entry.path.rpartition("/")[2]: entry.size for entry in table.context.storage.list(HISTORY)}
    assert all(sizes[file["fileName"]] == file["fileLen"] for file in manifest["files"])
    assert archive.version() > 9
    assert lsm.MANIFESTS_KEPT <= sum(name.startswith("manifest_") for name in sizes) < 6
    fresh = reopened(table)
    for number, write in enumerate(done):
        assert state(fresh.as_of(write)) == {("k1", number, f"{number}")}


def test_a_reader_that_holds_an_old_manifest_asks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsm, "LEVEL_FILES", 2)
    monkeypatch.setattr(lsm, "MANIFESTS_KEPT", 1)
    table, done = grown(tmp_path)
    table.archive(retained=4)

    def meanwhile() -> None:
        table.archive(retained=2)
        table.archive(retained=1)

    slow = during(table, "_0.parquet", meanwhile, on="get")
    assert state(slow.as_of(done[0])) == state(reopened(table).as_of(done[0]))
    assert max(file.level for file in Archive(table.context.storage).files()) == 1


def test_an_instant_that_is_archived_between_listing_and_reading(tmp_path: Path) -> None:
    table, done = grown(tmp_path)
    before = state(table.snapshot())
    slow = during(table, f"{done[0].requested}_", lambda: table.archive(retained=1), on="get")
    assert state(slow.snapshot()) == before


def test_who_is_slow_finds_in_the_archive_that_its_plan_was_carried_out(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "1")))
    plan = table.schedule_compaction()
    assert plan is not None

    def meanwhile() -> None:
        table.run_compaction(plan)
        table.upsert(batch(("k1", 2, "2")))
        table.compact()
        assert plan.requested in {instant.requested for instant in table.archive(retained=1)}

    slow = during(table, ".parquet", meanwhile)
    done = slow.run_compaction(plan)
    assert done is not None
    assert done.completed == table.run_compaction(plan).completed  # type: ignore[union-attr]
    assert sum(name.endswith(".parquet") and ".hoodie" not in name for name in files(table)) == 2
    assert state(table.snapshot()) == {("k1", 2, "2")}


def test_a_failed_write_is_recognised_until_it_is_rolled_back(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k1", 1, "1")))
    table.compact()

    with pytest.raises(Died):
        during(table, ".log.", dies).upsert(batch(("k9", 1, "failed")))
    table.upsert(batch(("k1", 2, "2")))
    table.compact()
    table.upsert(batch(("k1", 3, "3")))
    failed = next(instant for instant in table.timeline() if instant.completed is None)
    assert all(instant.requested < failed.requested for instant in table.archive(retained=1))
    table.compact()
    assert table.archive(retained=1) == ()
    table.context.heartbeats.stop(failed.requested)
    assert len(table.rollback()) == 1
    assert len(table.archive(retained=1)) >= 3
    assert same(table)


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for retained in (0, -1, True, "all"):
        with pytest.raises(BadInput, match="at least the newest write stays on the active timeline"):
            table.archive(retained=retained)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        table.context.storage.get(VERSION)


def test_a_write_based_on_an_old_read_finds_its_conflict_in_the_archive(tmp_path: Path) -> None:
    table = make_table(tmp_path, concurrency_mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    read = table.upsert(batch(("k1", 1, "1")))
    table.upsert(batch(("k1", 2, "2")))
    table.compact()
    table.upsert(batch(("k2", 1, "x")))
    table.compact()
    assert len(table.archive(retained=1)) == 4
    with pytest.raises(Conflict):
        table.upsert(batch(("k3", 3, "3")), based_on=read)


def test_writers_archive_by_themselves_where_the_table_says_so(tmp_path: Path) -> None:
    options = {"hoodie.archive.automatic": "true", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "4"}
    table = make_table(tmp_path / "t", options=options, table_type="COPY_ON_WRITE", concurrency_mode=None)
    unasked = make_table(tmp_path / "unasked", table_type="COPY_ON_WRITE", concurrency_mode=None)
    sizes, done = [], []
    for number in range(8):
        done.append(table.upsert(batch(("k1", number, f"{number}"))))
        sizes.append(sum(instant.writes for instant in reopened(table).timeline()))
        unasked.upsert(batch(("k1", number, f"{number}")))
    assert sizes == [1, 2, 3, 4, 2, 3, 4, 2], "the newest two stay, and up to two more"
    assert [state(table.as_of(time)) for time in done] == [state(unasked.as_of(time)) for time in unasked.timeline()]
    assert len(unasked.timeline()) == 8
    assert Table.open(None, tmp_path / "t").config.archive_policy == table.config.archive_policy


@pytest.mark.parametrize("error", [Conflict("archive the timeline", "the lock is held", "try again"), OSError("full")])
def test_a_write_is_committed_although_archiving_fails(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"hoodie.archive.automatic": "true", "hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}
    table = make_table(tmp_path / "t", options=options, table_type="COPY_ON_WRITE", concurrency_mode=None)

    def refused(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(lsm, "add", refused)
    for number in range(2):
        table.upsert(batch(("k1", number, "1")))
    with pytest.warns(UserWarning, match="the write is complete, but old instants were not archived"):
        done = table.upsert(batch(("k1", 9, "9")))
    assert done.completed
    assert len(table.timeline()) == 3


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"hoodie.archive.automatic": "yes"}, "true or false"),
        ({"hoodie.keep.max.commits": "0"}, "a whole number from 1 on"),
        ({"hoodie.keep.min.commits": "9", "hoodie.keep.max.commits": "9"}, "which is 9"),
        ({"hoodie.keep.max.commits": "5"}, "which is 20"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, str], needed: str) -> None:
    with pytest.raises(BadInput, match=needed):
        make_table(tmp_path / "t", options=options)
