"""File slices: the rules one by one, PART and TRAVEL as properties, and the tables that Hudi wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.files.group_files import BaseFile, LogFile, data_file, directory_files
from nbcc.engine.files.slices import FileSlice, build_slices, load_slices, newest_bases, to_read
from nbcc.engine.files.window import window_files
from nbcc.engine.reads.travel import settled
from nbcc.engine.rules import HUDI, NBCC, Rules
from nbcc.engine.storage import Entry
from nbcc.engine.timeline import (
    Archive,
    Archived,
    CommitMetadata,
    Commits,
    Instant,
    Timeline,
    encode_commit,
    load,
)
from nbcc.engine.timeline.history import Current, Whole
from nbcc.engine.timeline.timeline import FOLDER
from tests.builders.files import HUDI_TABLES, Writer, hudi_table, own_table, t
from tests.builders.tables import context_of

GROUP = ("", "00000000-0000-0000-0000-000000000000-0")


def log(requested: int, completed: int | None, version: int = 1, named: int | None = None) -> LogFile:
    done = None if completed is None else t(completed)
    return LogFile(*GROUP, t(requested), done, version, "0-0-0", t(named or requested), f"log{requested}.{version}", 1)


def base(requested: int, completed: int) -> BaseFile:
    return BaseFile(*GROUP, t(requested), t(completed), f"base{requested}", 1)


def shape(slices: Sequence[FileSlice]) -> list[tuple[Any, ...]]:
    """(barrier, base, logs) of each slice, by the seconds in their names."""
    return [
        (
            piece.barrier and int(piece.barrier[12:14]),
            piece.base and piece.base.path,
            [file.path for file in piece.logs],
        )
        for piece in slices
    ]


LATE: list[BaseFile | LogFile] = [log(1, 2), base(4, 8), log(3, 5), log(6, 7), log(9, 10)]


def test_a_log_is_sliced_by_when_it_completed() -> None:
    assert shape(build_slices(LATE, {}, NBCC)) == [
        (None, None, ["log1.1"]), (4, "base4", ["log3.1", "log6.1", "log9.1"])]  # fmt: skip


def test_the_old_slicing_puts_a_late_log_where_no_reader_of_the_base_looks() -> None:
    requested = Rules(slicing="requested")
    assert shape(build_slices(LATE, {}, requested)) == [
        (None, None, ["log1.1", "log3.1"]), (4, "base4", ["log6.1", "log9.1"])]  # fmt: skip


def test_the_oldest_slicing_goes_by_the_base_instant_in_the_name() -> None:
    files: list[BaseFile | LogFile] = [base(2, 3), log(5, 8, named=2), base(6, 9), log(7, 10, named=6)]
    assert shape(build_slices(files, {}, Rules(slicing="base_instant"))) == [
        (2, "base2", ["log5.1"]), (6, "base6", ["log7.1"])]  # fmt: skip


def test_a_pending_plan_is_a_barrier_and_its_slice_is_read_with_the_one_before() -> None:
    files: list[BaseFile | LogFile] = [base(2, 3), log(4, 5), log(6, 9), log(10, 11)]
    slices = build_slices(files, {GROUP: [t(8)]}, NBCC)
    assert shape(slices) == [(2, "base2", ["log4.1"]), (8, None, ["log6.1", "log10.1"])]
    assert shape(to_read(slices, NBCC)) == [(2, "base2", ["log4.1", "log6.1", "log10.1"])]
    assert shape(newest_bases(slices)) == [(2, "base2", [])]


def test_a_plan_over_logs_alone() -> None:
    slices = build_slices([log(1, 2), log(3, 9)], {GROUP: [t(8)]}, NBCC)
    assert shape(to_read(slices, NBCC)) == [(None, None, ["log1.1", "log3.1"])]
    assert newest_bases(slices) == ()


def test_merge_order_inside_a_slice() -> None:
    files = [log(1, 9), log(3, 4, version=10), log(3, 4, version=2), log(5, 6)]
    (ours,) = build_slices(files, {}, NBCC)
    (hudis,) = build_slices(files, {}, HUDI)
    assert [file.path for file in ours.logs] == ["log3.2", "log3.10", "log5.1", "log1.1"]
    assert [file.path for file in hudis.logs] == ["log1.1", "log3.2", "log3.10", "log5.1"]
    attempts = [log(3, 4)._replace(token=token) for token in ("9-0-0", "", "10-0-0")]
    (piece,) = build_slices(attempts, {}, NBCC)
    assert [file.token for file in piece.logs] == ["", "10-0-0", "9-0-0"]  # as text, a missing one first
    planned = build_slices([*files, log(2, 8)], {GROUP: [t(7)]}, HUDI)
    assert [file.path for file in to_read(planned, HUDI)[0].logs] == ["log1.1", "log2.1", "log3.2", "log3.10", "log5.1"]


def test_deletes_kept_by_a_compaction_belong_to_its_base() -> None:
    (piece,) = build_slices([base(4, 8), log(4, 8), log(5, 6)], {}, NBCC)
    assert [file.path for file in piece.tombstones] == ["log4.1"]
    assert [file.path for file in piece.logs] == ["log5.1"]


def test_what_has_not_completed_is_newest_where_rules_let_it_be_seen() -> None:
    slices = build_slices([base(4, 8), log(3, None), log(9, 10)], {}, NBCC)
    assert shape(slices) == [(4, "base4", ["log9.1", "log3.1"])]


def test_files_without_rows_are_ignored() -> None:
    instant = Instant(t(1), "deltacommit", "completed", t(2))
    assert data_file(f"p/.f_{t(1)}.log.1_0-0-0.cdc", 1, instant) is None
    assert data_file("p/.hoodie_partition_metadata", 1, instant) is None


# --- a history of one group: two writers around a compaction, on storage


def history(folder: Path, until: int = 99) -> Writer:
    """Writes 1-2, 3-5 and 6-9; a plan at 4 takes the first and completes at 8. Nothing later than `until`."""
    writer = own_table(folder)
    first = writer.log(t(1), [("a", "1", 1), ("b", "1", 1)])
    second = writer.log(t(3), [("a", "3", 3)])
    third = writer.log(t(6), [("a", "6", 6)], deletes=[("b", 2)])
    writer.begin(t(1))
    writer.complete(t(1), t(2), first)
    writer.begin(t(3))
    if until >= 4:
        writer.plan(t(4), None, first)
    if until >= 5:
        writer.complete(t(3), t(5), second)
    if until >= 6:
        writer.begin(t(6))
    if until >= 8:
        compacted = writer.base(t(4), [("a", "1", 1), ("b", "1", 1)])
        writer.complete(t(4), t(8), compacted, action="compaction")
    if until >= 9:
        writer.complete(t(6), t(9), third)
    return writer


def slices_at(writer: Writer, as_of: int | None = None, rules: Rules = NBCC) -> list[tuple[Any, ...]]:
    """(barrier, base's second, seconds of the logs) of the slices of a table."""
    timeline, commits = settled(context_of(writer.storage)), Commits(writer.storage)
    slices = load_slices(writer.storage, timeline, commits, rules, None if as_of is None else t(as_of))

    def second(instant: str | None) -> int | str | None:
        return instant and int(instant[12:14])

    return [
        (second(s.barrier), s.base and second(s.base.requested), [second(f.requested) for f in s.logs]) for s in slices
    ]


def test_slices_of_a_table_of_ours(tmp_path: Path) -> None:
    assert slices_at(history(tmp_path / "a", until=3)) == [(None, None, [1])]
    assert slices_at(history(tmp_path / "b", until=4)) == [(None, None, [1]), (4, None, [])]
    assert slices_at(history(tmp_path / "c", until=5)) == [(None, None, [1]), (4, None, [3])]
    assert slices_at(history(tmp_path / "d", until=8)) == [(None, None, [1]), (4, 4, [3])]
    assert slices_at(history(tmp_path / "e")) == [(None, None, [1]), (4, 4, [3, 6])]


@pytest.mark.parametrize("as_of", range(2, 10))
def test_slices_as_of_then_are_those_of_then(as_of: int, tmp_path: Path) -> None:
    """TRAVEL: what completes later changes neither slices nor answer."""
    assert slices_at(history(tmp_path / "all"), as_of) == slices_at(history(tmp_path / "then", until=as_of), as_of)


def test_as_of_by_requested_time_is_another_answer(tmp_path: Path) -> None:
    writer = history(tmp_path)
    by_request = Rules(as_of_axis="requested")
    assert slices_at(writer, 3, by_request) == [(None, None, [1, 3])]
    assert slices_at(writer, 3) == [(None, None, [1])]


def test_a_file_that_no_instant_lists_does_not_exist(tmp_path: Path) -> None:
    writer = history(tmp_path)
    expected = slices_at(writer)
    writer.log(t(3), [("z", "late attempt", 9)], version=2)
    writer.log(t(20), [("z", "no instant", 9)])
    assert slices_at(writer) == expected
    in_folders = replace(NBCC, files="directory")
    assert slices_at(writer, rules=in_folders) == [(None, None, [1]), (4, 4, [3, 3, 6])]
    everything = replace(NBCC, visibility="any")
    assert slices_at(writer, rules=everything) == [(None, None, [1]), (4, 4, [3, 3, 6, 20])]
    assert slices_at(writer, 20, everything) == slices_at(writer, rules=everything)
    assert slices_at(writer, 19, everything) == [(None, None, [1]), (4, 4, [3, 3, 6])]


def test_windows_hold_the_writes_that_completed_in_them(tmp_path: Path) -> None:
    writer = history(tmp_path)
    timeline, commits = Whole(Current(load(writer.storage))), Commits(writer.storage)

    def seconds(after: int, until: int, rules: Rules = NBCC) -> list[int]:
        found = window_files(timeline, commits, rules, t(after), t(until))
        assert not any(group.bases for group in found)
        return [int(file.requested[12:14]) for group in found for file in group.logs]

    assert seconds(2, 9) == [3, 6]
    assert seconds(1, 2) == [1]
    assert seconds(5, 8) == []
    assert seconds(2, 5, Rules(incremental_axis="requested")) == [3]
    assert seconds(5, 8, Rules(incremental_axis="requested")) == [6]


# --- in directories: whom to believe


def test_an_archived_write_counts_and_a_failed_one_older_than_the_timeline_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hudi believes both (docs/hudi-format.md)."""

    class Remembers(Archive):
        def completion(self, requested: str) -> str | None:
            raise AssertionError("the whole instant is asked for")

        def find(self, requested: str) -> Instant | None:
            return Instant(requested, "deltacommit", "completed", t(4)) if requested == t(1) else None

        def row(self, instant: Instant) -> Archived:
            return Archived(instant.requested, t(4), "deltacommit", None, None)

    writer = own_table(tmp_path)
    entries = [Entry(f".f_{t(n)}.log.1_0-0-0", 1) for n in (1, 2, 10)]
    timeline = Current(Timeline.of([Instant(t(10), "deltacommit", "completed", t(11))]))
    commit = encode_commit(CommitMetadata((), "UPSERT"))
    writer.storage.put(f"{FOLDER}/{t(10)}_{t(11)}.deltacommit", commit)
    commits = Commits(writer.storage)
    monkeypatch.setattr(commits, "archive_now", lambda: Remembers(writer.storage))
    found = list(directory_files(entries, timeline, commits, HUDI))
    assert [(file.requested, file.completed) for file in found] == [(t(1), t(4)), (t(10), t(11))]
    early = list(directory_files(entries, timeline, commits, HUDI, as_of=t(10)))
    assert [file.requested for file in early] == [t(1)]


def test_a_failed_first_log_hides_nothing(tmp_path: Path) -> None:
    """Hudi 1.2.0 would key the slice by it and lose the committed log after it (docs/hudi-format.md)."""
    writer = own_table(tmp_path)
    writer.log(t(1), [("a", "crashed", 1)])
    writer.begin(t(1))
    written = writer.log(t(3), [("a", "good", 1)])
    writer.complete(t(3), t(4), written)
    assert slices_at(writer, rules=HUDI) == [(None, None, [3])]


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_slices_of_hudi_tables_are_those_of_hudi_rs(name: str, tmp_path: Path) -> None:
    from hudi import HudiTable

    storage = hudi_table(name, tmp_path)
    timeline, commits = settled(context_of(storage)), Commits(storage)
    slices = load_slices(storage, timeline, commits, HUDI)
    ours = {
        piece.group: (
            piece.base and piece.base.path.rpartition("/")[2],
            {f.path.rpartition("/")[2] for f in piece.logs},
        )
        for piece in to_read(slices, HUDI)
    }
    theirs = {
        (piece.partition_path, piece.file_id): (piece.base_file_name or None, set(piece.log_file_names))
        for piece in HudiTable(str(tmp_path / name)).get_file_slices()
    }
    assert ours == theirs
    assert load_slices(storage, timeline, commits, replace(HUDI, files="listed")) == slices


# --- properties

TIMES = st.permutations(range(1, 13))


@given(TIMES, st.data())
def test_each_completed_log_is_in_exactly_one_slice(times: list[int], data: st.DataObject) -> None:
    """PART, and TRAVEL: as of any T, a pending plan and its completed base leave the reader the same logs to see."""
    pairs = [sorted(times[n : n + 2]) for n in range(0, 8, 2)]
    logs = [log(requested, completed) for requested, completed in pairs]
    barrier, done = sorted(times[8:10])
    compacted = base(barrier, done)
    before = build_slices(logs, {GROUP: [t(barrier)]}, NBCC)
    after = build_slices([*logs, compacted], {}, NBCC)
    for slices in (before, after):
        assert sorted(file.path for piece in slices for file in piece.logs) == sorted(file.path for file in logs)
        for piece in slices:
            assert all((file.completed or "") >= t(barrier) for file in piece.logs) == (piece.barrier is not None)
    assert [shape([piece])[0][2] for piece in before] == [shape([piece])[0][2] for piece in after]
    merged = [file for file in logs if (file.completed or "") < t(barrier)]  # what the base file holds
    (read,) = to_read(after, NBCC)
    (unmerged,) = to_read(before, NBCC)
    assert {*read.logs, *merged} == set(unmerged.logs)
    assert not {*read.logs} & {*merged}
