"""The timeline: file names, the value, settled listings, publication, metadata, the archive."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.errors import Conflict, NotATable, Unsupported
from nbcc.engine.reads.travel import settled
from nbcc.engine.rules import Rules
from nbcc.engine.storage import Entry, ObjectStorage, Storage, open_storage
from nbcc.engine.timeline import (
    Archive,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Instant,
    Timeline,
    WriteStat,
    decode_commit,
    decode_plan,
    encode_commit,
    encode_plan,
    load,
    load_commit,
    load_plan,
    own_extra,
    parse_instant,
    put_completed,
    put_inflight,
    put_requested,
)
from nbcc.engine.timeline.loading import Listings
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.files import HUDI_TABLES, hudi_facts, hudi_table, t
from tests.builders.tables import context_of
from tests.builders.timeline_states import STATES, TIMELINE, archive

NAMES = {
    "20251220210108078.deltacommit.requested": Instant("20251220210108078", "deltacommit", "requested"),
    "20251220210108078.deltacommit.inflight": Instant("20251220210108078", "deltacommit", "inflight"),
    "20251220210108078_20251220210109593.deltacommit": Instant(
        "20251220210108078", "deltacommit", "completed", "20251220210109593"
    ),
    "20251220210108078.inflight": Instant("20251220210108078", "commit", "inflight"),
    "20251220210108078.commit.requested": Instant("20251220210108078", "commit", "requested"),
    "20251220210108078.compaction.requested": Instant("20251220210108078", "compaction", "requested"),
    "20251220210108078.clustering.inflight": Instant("20251220210108078", "clustering", "inflight"),
    "20251220210108078.savepoint.inflight": Instant("20251220210108078", "savepoint", "inflight"),
    "20251220210108_20251220210109.rollback": Instant("20251220210108", "rollback", "completed", "20251220210109"),
}


@pytest.mark.parametrize("name", NAMES)
def test_instants_are_their_names(name: str) -> None:
    assert parse_instant(name) == NAMES[name]
    assert NAMES[name].file_name == name


@pytest.mark.parametrize(
    "name", [".keep", "x.crc", "1.dance.requested", "1_2.dance", "1.deltacommit", "history", "", "1.requested"]
)
def test_other_names_mean_nothing(name: str) -> None:
    assert parse_instant(name) is None


@given(st.permutations(STATES))
def test_the_highest_state_counts_and_a_completed_plan_is_a_commit(names: list[str]) -> None:
    found = Timeline.of(instant for name in names if (instant := parse_instant(name)))
    assert [instant.file_name for instant in found.instants] == [
        f"{t(1)}_{t(6)}.deltacommit", f"{t(1)}.savepoint.inflight", f"{t(2)}_{t(4)}.commit",
        f"{t(3)}.compaction.inflight",
    ]  # fmt: skip
    assert [instant.requested for instant in found.completed] == [t(2), t(1)]
    assert [instant.requested for instant in found.pending_compactions] == [t(3)]
    assert (found.greatest_completion, found.newest) == (t(6), t(6))
    assert found.is_compaction(found.completed[0])
    assert not found.is_compaction(found.completed[1])
    assert found.find(t(1)) == Instant(t(1), "deltacommit", "completed", t(6))
    assert found.find(t(1), "savepoint") == Instant(t(1), "savepoint", "inflight")
    assert found.find(t(2), "compaction") == Instant(t(2), "commit", "completed", t(4))
    assert found.find(t(9)) is None


def test_until_reopens_what_completed_later() -> None:
    names = [
        f"{t(1)}_{t(6)}.deltacommit",
        f"{t(2)}.compaction.requested",
        f"{t(2)}_{t(4)}.commit",
        f"{t(3)}_{t(5)}.commit",
    ]
    whole = Timeline.of(instant for name in names if (instant := parse_instant(name)))
    early = whole.until(t(3))
    assert [instant.file_name for instant in early.instants] == [
        f"{t(1)}.deltacommit.inflight", f"{t(2)}.compaction.inflight", f"{t(3)}.inflight"
    ]  # fmt: skip
    assert early.pending_compactions == (Instant(t(2), "compaction", "inflight"),)
    assert whole.until(t(6)) == whole
    assert Timeline().newest is None
    assert Timeline().greatest_completion is None


FILES = [
    "1.deltacommit.requested", "1.deltacommit.inflight", "1_5.deltacommit", "1_6.deltacommit", "2.compaction.requested",
    "2.compaction.inflight", "2.inflight", "2_4.commit", "3.deltacommit.requested", "3.clean.requested", "3_9.clean",
    "4.savepoint.inflight", "4_7.savepoint", "history/1_2_0.parquet", "history/manifest_1", "note.txt",
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(FILES), unique=True), min_size=1, max_size=5))
def test_what_was_listed_before_and_the_order_of_names_change_nothing(listings: list[list[str]]) -> None:
    """Timelines that grow, shrink and turn into others; 1_5 and 1_6 stand for a time that two have taken."""
    known = Listings()
    for names in listings:
        found = known.timeline([f"{FOLDER}/{name}" for name in names])
        states = [instant for name in sorted(names) if (instant := parse_instant(name))]
        archived = "history/1_2_0.parquet" in names
        assert found == replace(Timeline.of(states, archived), newest_archived="2" if archived else "")
        assert list(found.instants) == sorted(found.instants, key=lambda i: (i.requested, i.completes_as))
        for requested in "1234":
            of_it = [i for i in found.instants if i.requested == requested]
            assert found.find(requested) == next((i for i in of_it if i.writes), None)
            for action in ("deltacommit", "compaction", "clean"):
                as_ = "commit" if action == "compaction" else action
                assert found.find(requested, action) == next((i for i in of_it if i.completes_as == as_), None)


class Interleaved(ObjectStorage):
    """A store in which something happens after each listing."""

    def __init__(self, url: str, happenings: list[Callable[[], object]]) -> None:
        super().__init__(url)
        self.happenings = happenings
        self.listings = 0

    def list(self, prefix: str, after: str = "") -> list[Entry]:
        found = super().list(prefix, after)
        self.listings += 1
        if self.happenings:
            self.happenings.pop(0)()
        return found


def publish(storage: Storage, requested: int, completed: int) -> None:
    commit = encode_commit(CommitMetadata((), "UPSERT"))
    put_completed(storage, t(requested), t(completed), "deltacommit", commit)


def test_a_settled_timeline_has_all_that_completed_by_its_last_completion(tmp_path: Path) -> None:
    """The first listing misses 1-5 and shows 2-6: one listing would skip a completed write permanently."""
    behind = open_storage(tmp_path)
    publish(behind, 1, 5)
    publish(behind, 2, 6)

    class MissesOne(Interleaved):
        def list(self, prefix: str, after: str = "") -> list[Entry]:
            first = not self.listings
            return [entry for entry in super().list(prefix, after) if not (first and t(5) in entry.path)]

    twice = MissesOne(behind.url, [lambda: publish(behind, 3, 7)])
    shown = settled(context_of(twice))
    assert twice.listings == 2
    assert [(i.requested, i.completed) for i in shown.completed] == [(t(1), t(5)), (t(2), t(6))]
    assert [i.requested for i in shown.pending] == [t(3)]

    once = MissesOne(behind.url, [])
    missed = settled(replace(context_of(once), rules=Rules(listing="once")))
    assert once.listings == 1
    assert [(i.requested, i.completed) for i in missed.completed] == [(t(2), t(6)), (t(3), t(7))]


def test_reading_as_of_the_clock_runs_ahead(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    publish(storage, 1, 5)
    late = Interleaved(storage.url, [lambda: publish(storage, 2, 6)])
    assert settled(replace(context_of(late), rules=Rules(read_time="clock")), t(8)).greatest_completion == t(6)
    late = Interleaved(storage.url, [lambda: publish(storage, 3, 7)])
    assert settled(context_of(late), t(8)).greatest_completion == t(6)


def test_an_empty_timeline_is_settled_before_everything(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    late = Interleaved(storage.url, [lambda: publish(storage, 1, 2)])
    assert settled(context_of(late)).completed == ()


def test_instants_without_completion_time_are_refused(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    storage.put_if_absent(f"{TIMELINE}/{t(1)}.deltacommit", b"")
    with pytest.raises(Unsupported, match="layout 1"):
        load(storage)


def test_publication_goes_through_three_states_and_never_twice(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    plan = CompactionPlan((CompactionOperation("p", "f", t(1), None, ("l",)),))
    assert put_requested(storage, t(3), "compaction", encode_plan(plan)).state == "requested"
    assert load_plan(storage, t(3)) == plan
    put_inflight(storage, t(3), "compaction")
    put_inflight(storage, t(3), "compaction", again=True)
    with pytest.raises(Conflict, match=f"publish {t(3)}.compaction.inflight"):
        put_inflight(storage, t(3), "compaction", b"of another writer")
    commit = CommitMetadata((), "COMPACT", compacted=True, extra=own_extra("{}"))
    done = put_completed(storage, t(3), t(4), "compaction", encode_commit(commit))
    assert done == Instant(t(3), "commit", "completed", t(4))
    assert load(storage).instants == (done,)
    assert load_commit(storage, done) == commit
    with pytest.raises(Conflict):
        put_requested(storage, t(3), "compaction")


def test_a_publication_whose_answer_was_lost_is_no_conflict(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    first = put_completed(storage, t(1), t(2), "deltacommit", b"ours")
    assert put_completed(storage, t(1), t(2), "deltacommit", b"ours") == first
    with pytest.raises(Conflict, match=f"publish {t(1)}_{t(2)}.deltacommit"):
        put_completed(storage, t(1), t(2), "deltacommit", b"another's")


TEXT = st.text(max_size=8)
NAME = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..", ".hoodie")
)
STATS = st.builds(
    WriteStat, file_id=NAME, path=NAME, partition=st.sampled_from(["", "p", "q"]), size=st.integers(0, 9),
    prev_commit=TEXT.filter(bool), writes=st.integers(0, 9), deletes=st.integers(0, 9), inserts=st.integers(0, 9),
    updates=st.integers(0, 9), prev_base_file=st.none() | NAME, log_records=st.integers(0, 9),
    log_version=st.none(), log_files=st.just(()), log_blocks=st.just(0), log_size_compacted=st.integers(0, 9),
    log_files_compacted=st.none() | st.integers(0, 9), checksum=st.just(""),
)  # fmt: skip


@given(
    st.builds(CommitMetadata, st.lists(STATS, max_size=3).map(tuple), TEXT.filter(bool), st.booleans(),
              st.dictionaries(TEXT, TEXT, max_size=2), st.dictionaries(NAME, st.lists(NAME).map(tuple), max_size=2))
)  # fmt: skip
def test_commits_come_back_and_are_the_same_bytes_each_time(commit: CommitMetadata) -> None:
    read = decode_commit(encode_commit(commit))
    assert set(read.stats) == set(commit.stats)
    assert (read.operation, read.compacted, read.extra, read.replaced) == (
        commit.operation, commit.compacted, commit.extra, commit.replaced)  # fmt: skip
    assert encode_commit(commit) == encode_commit(commit)
    assert read.own == ("nbcc.format" in commit.extra)


def test_plans_have_the_metrics_that_spark_unboxes() -> None:
    import fastavro

    plan = CompactionPlan((CompactionOperation("", "f", t(1), "b.parquet", ("l1", "l2"), 7 << 20, 3 << 20),))
    assert decode_plan(encode_plan(plan)).groups == {("", "f")}
    record = next(fastavro.reader(io.BytesIO(encode_plan(plan))))
    assert isinstance(record, dict)
    assert record["version"] == 2
    assert record["operations"][0]["metrics"] == {
        "TOTAL_LOG_FILES": 2.0, "TOTAL_LOG_FILES_SIZE": float(7 << 20),
        "TOTAL_IO_READ_MB": 10.0, "TOTAL_IO_WRITE_MB": 3.0, "TOTAL_IO_MB": 13.0}  # fmt: skip


def test_a_file_that_is_no_container_is_named() -> None:
    for data in (b"", b"{}", encode_commit(CommitMetadata((), "UPSERT"))[:40]):
        with pytest.raises(NotATable, match=r"timeline file 1_2\.deltacommit"):
            decode_commit(data, "1_2.deltacommit")


@pytest.mark.parametrize("version", [b"1", None])
def test_the_archive_finds_completed_instants(version: bytes | None, tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    archive(storage, (2, 4), (6, 8), version=version)
    storage.put(f"{TIMELINE}/history/{t(9)}_{t(9)}_0.parquet", b"not in the manifest")
    found = Archive(storage)
    archived = {n: instant.completed for n in range(1, 10) if (instant := found.find(t(n)))}
    assert archived == {n: t(30 + n) for n in (2, 4, 6, 8)}
    assert load(storage).instants == ()


def test_the_archive_reads_only_files_that_span_the_instant(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    archive(storage, (2, 4), (6, 8))
    storage.delete(f"{TIMELINE}/history/{t(6)}_{t(8)}_0.parquet")
    assert Archive(storage).find(t(3)) is None
    with pytest.raises(NotATable, match="which does not exist"):
        Archive(storage).find(t(7))


def test_no_archive_and_a_broken_one(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    assert Archive(storage).find(t(1)) is None
    archive(storage)
    storage.put(f"{TIMELINE}/history/manifest_1", b"{]")
    with pytest.raises(NotATable, match="manifest_1"):
        Archive(storage).find(t(1))


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_timelines_of_hudi(name: str, tmp_path: Path) -> None:
    storage = hudi_table(name, tmp_path)
    timeline = settled(context_of(storage))
    assert sorted(instant.file_name for instant in timeline.instants) == hudi_facts(name)["timeline"]
    for entry in storage.list(TIMELINE):
        assert parse_instant(entry.path.rpartition("/")[2]) is not None
    for instant in timeline.completed:
        commit = load_commit(storage, instant)
        assert decode_commit(encode_commit(commit)) == commit
        assert commit.compacted == timeline.is_compaction(instant)
        for stat in commit.stats:
            assert len(storage.get(stat.path)) == stat.size
    for plan in timeline.instants:
        if timeline.is_compaction(plan):
            assert load_plan(storage, plan.requested).operations
