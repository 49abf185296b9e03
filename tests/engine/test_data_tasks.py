"""Write, read, compact and change tasks over real files, in process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc.engine.data.columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, IS_DELETED, PARTITION_PATH, RECORD_KEY
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.layers import COMMIT_TIME_ORDERING, EVENT_TIME
from nbcc.engine.data.tasks import (
    ChangesTask,
    CompactTask,
    LogFormat,
    LogInput,
    ReadTask,
    TableShape,
    WindowTask,
    WriteTask,
    WrittenFile,
)
from nbcc.engine.errors import BadInput, Conflict, Unsupported
from nbcc.engine.file_names import LogName
from nbcc.engine.files.delete_block import encode_deletes
from nbcc.engine.files.log_block import BlockKind, Header, encode_block
from nbcc.engine.names import RandomNames, bucket_file_id
from nbcc.engine.schema import META_COLUMNS
from nbcc.engine.storage import LocalStorage, open_storage
from tests.builders.tasks import by_key, rows_and_deletes, shape

GROUP = bucket_file_id(0)


def instant(number: int) -> str:
    return f"20260101{number:09d}"


class Lab:
    """One file group and what was written to it, in order."""

    def __init__(self, folder: Path, of: TableShape) -> None:
        self.storage = open_storage(folder)
        self.jobs = InProcessJobs(self.storage, RandomNames())
        self.shape = of
        self.logs: list[LogInput] = []

    def write(self, number: int, *rows: tuple[Any, ...], max_log_bytes: int = 1 << 30) -> list[WrittenFile]:
        written = self.jobs.write(rows_and_deletes(*rows), WriteTask(self.shape, instant(number), max_log_bytes))
        self.logs += [LogInput(file.path, instant(number)) for file in written]
        return written

    def put(self, number: int, log: bytes) -> None:
        """A log file made by hand."""
        name = str(LogName(GROUP, instant(number), 1, "0-0-0"))
        assert self.storage.put_if_absent(name, log)
        self.logs.append(LogInput(name, instant(number)))

    def slice(self, base: WrittenFile | None = None, first: int = 0, last: int | None = None) -> ReadTask:
        return ReadTask(self.shape, "", GROUP, None if base is None else base.path, logs=tuple(self.logs[first:last]))

    def compact(self, number: int, task: ReadTask, keeps_tombstones: bool = True) -> tuple[ReadTask, list[WrittenFile]]:
        """The slice that the compaction leaves, without later logs; what it wrote."""
        base, *tombstones = self.jobs.compact([CompactTask(task, instant(number), keeps_tombstones)])
        kept = tuple(LogInput(file.path, instant(number)) for file in tombstones)
        return replace(task, base=base.path, tombstones=kept, logs=()), [base, *tombstones]

    def rows(self, task: ReadTask) -> pa.Table:
        found = self.jobs.read([task], self.shape.stored_schema)
        assert found.schema.equals(self.shape.stored_schema)
        return found

    def state(self, task: ReadTask) -> dict[str, tuple[int, str]]:
        return by_key(self.rows(task))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path, shape())


@pytest.mark.parametrize("log_format", ["parquet", "avro"])
def test_rows_come_back_with_their_columns(tmp_path: Path, log_format: LogFormat) -> None:
    lab = Lab(tmp_path, shape(log_format=log_format))
    (written,) = lab.write(1, ("b", 2, "x"), ("a", 1, "é😀"), ("c", 1, None))
    assert (written.rows, written.deletes, written.version, written.partition) == (2, 1, 1, "")
    assert written.size == len(lab.storage.get(written.path))
    rows = lab.rows(lab.slice()).to_pylist()
    assert [(row["id"], row["ts"], row["value"]) for row in rows] == [("b", 2, "x"), ("a", 1, "é😀")]
    for row in rows:
        assert row[COMMIT_TIME] == instant(1)
        assert (row[RECORD_KEY], row[PARTITION_PATH], row[FILE_NAME]) == (row["id"], "", GROUP)
    assert [row[COMMIT_SEQNO] for row in rows] == [f"{instant(1)}_0_0", f"{instant(1)}_0_1"]


def test_a_marker_comes_before_its_file(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    put = LocalStorage.put_if_absent

    def noted_put(self: LocalStorage, path: str, data: bytes) -> bool:
        calls.append(path)
        return put(self, path, data)

    monkeypatch.setattr(LocalStorage, "put_if_absent", noted_put)
    lab.write(1, ("a", 1, "x"), ("b", 1, None))
    slice_, _ = lab.compact(2, lab.slice())
    log, base, tombstones = lab.logs[0].path, slice_.base, slice_.tombstones[0].path
    assert calls == [
        f".hoodie/.temp/{instant(1)}/{log}.marker.CREATE",
        log,
        f".hoodie/.temp/{instant(2)}/{base}.marker.CREATE",
        base,
        f".hoodie/.temp/{instant(2)}/{tombstones}.marker.CREATE",
        tombstones,
    ]


def test_groups_rise_and_each_partition_says_that_it_is_one(tmp_path: Path) -> None:
    lab = Lab(tmp_path, shape(partition_by=("part",), buckets=3))
    rows = [(f"k{number}", 1, "x", f"p{number % 2}") for number in range(40)]
    written = lab.write(1, *rows)
    assert [(file.partition, file.file_id) for file in written] == [
        (f"p{partition}", bucket_file_id(bucket)) for partition in range(2) for bucket in range(3)
    ]
    assert sum(file.rows for file in written) == 40
    assert b"partitionDepth=1" in lab.storage.get("p1/.hoodie_partition_metadata")
    tasks = [ReadTask(lab.shape, file.partition, file.file_id, logs=(LogInput(file.path, "1"),)) for file in written]
    found = lab.jobs.read(tasks, lab.shape.stored_schema)
    assert sorted((row["id"], row[PARTITION_PATH]) for row in found.to_pylist()) == sorted(
        (row[0], row[3]) for row in rows
    )
    assert len(set(found[COMMIT_SEQNO].to_pylist())) == 40


def test_a_file_limit_of_one_byte_gives_each_row_a_version(lab: Lab) -> None:
    written = lab.write(1, ("b", 1, "x"), ("a", 2, None), ("c", 3, "y"), max_log_bytes=1)
    assert [(file.version, file.rows, file.deletes) for file in written] == [(1, 1, 0), (2, 0, 1), (3, 1, 0)]
    assert lab.state(lab.slice()) == {"b": (1, "x"), "c": (3, "y")}


def test_commit_time_combines_by_ordering_inside_a_batch_only(tmp_path: Path) -> None:
    lab = Lab(tmp_path, shape(mode=COMMIT_TIME_ORDERING))
    lab.write(1, ("a", 2, "new"), ("a", 1, "old"), ("b", 9, "x"))
    lab.write(2, ("a", 1, "late"), ("b", 1, None))
    assert lab.state(lab.slice()) == {"a": (1, "late")}


def test_a_broken_rule_stops_the_write_before_its_first_file(lab: Lab) -> None:
    with pytest.raises(BadInput, match="id='a', ts=1"):
        lab.jobs.write(rows_and_deletes(("a", 1, "x"), ("a", 1, "y")), WriteTask(lab.shape, instant(1)))
    assert lab.storage.list("") == []


def test_a_foreign_file_of_the_same_name_is_left_alone(lab: Lab) -> None:
    class Fixed(RandomNames):
        def write_token(self) -> str:
            return "0-0-0"

    jobs = InProcessJobs(lab.storage, Fixed())
    (written,) = jobs.write(rows_and_deletes(("a", 1, "x")), WriteTask(lab.shape, instant(1)))
    before = lab.storage.get(written.path)
    assert jobs.write(rows_and_deletes(("a", 1, "x")), WriteTask(lab.shape, instant(1))) == [
        written
    ]  # the answer was lost
    with pytest.raises(Conflict):
        jobs.write(rows_and_deletes(("a", 1, "other")), WriteTask(lab.shape, instant(1)))
    assert lab.storage.get(written.path) == before


def test_compaction_keeps_commit_times_and_rewrites_the_file_name(lab: Lab) -> None:
    lab.write(1, ("a", 1, "x"), ("b", 1, "x"))
    lab.write(2, ("a", 2, "y"))
    before = lab.rows(lab.slice())
    slice_, (base,) = lab.compact(3, lab.slice())
    assert (base.rows, base.version, base.log_records, base.log_files, base.log_blocks) == (2, None, 3, 2, 2)
    after = lab.rows(slice_)
    assert set(after[FILE_NAME].to_pylist()) == {base.path}
    rest = [name for name in after.column_names if name != FILE_NAME]
    assert after.select(rest).sort_by("id").equals(before.select(rest).sort_by("id"))


def test_a_delete_without_ordering_value_is_no_tombstone(lab: Lab) -> None:
    """As Hudi's SQL DELETE writes it: every later record wins over it, so nothing is to be remembered."""
    lab.write(1, ("a", 5, "x"), ("b", 5, "x"))
    lab.put(2, encode_deletes(pa.array(["a"]), "", None, instant(2), lab.shape.avro_schema))
    assert lab.state(lab.slice()) == {"b": (5, "x")}
    slice_, files = lab.compact(3, lab.slice())
    assert len(files) == 1
    lab.write(4, ("a", 1, "again"))
    assert lab.state(replace(slice_, logs=(*lab.logs[-1:],))) == lab.state(lab.slice())


@pytest.mark.parametrize(
    ("what", "block"),
    [
        ("partial updates", encode_block(BlockKind.PARQUET, {Header.INSTANT: "1", Header.IS_PARTIAL: "true"}, b"")),
        ("a COMMAND block", encode_block(BlockKind.COMMAND, {Header.INSTANT: "1", Header.COMMAND: "1"}, b"")),
    ],
)
def test_blocks_that_would_be_merged_wrongly_are_refused(lab: Lab, what: str, block: bytes) -> None:
    lab.put(2, block)
    with pytest.raises(Unsupported, match=f"it holds {what}"):
        lab.state(lab.slice())


def test_a_group_may_become_empty(lab: Lab) -> None:
    lab.write(1, ("a", 1, "x"))
    lab.write(2, ("a", 1, None))
    slice_, (base, _) = lab.compact(3, lab.slice())
    assert base.rows == 0
    assert lab.state(slice_) == {}


def test_a_window_is_the_merge_of_its_files_alone(lab: Lab) -> None:
    lab.write(1, ("a", 9, "x"))
    lab.write(2, ("a", 1, "low"), ("b", 1, "x"))
    lab.write(3, ("b", 2, None), ("c", 1, "x"))
    found = lab.jobs.read([WindowTask(lab.shape, tuple(lab.logs[1:]))], lab.shape.window_schema)
    assert found.schema.names == [*META_COLUMNS, *lab.shape.schema.names, IS_DELETED]
    rows = {row["id"]: (row["ts"], row["value"], row[IS_DELETED], row[COMMIT_TIME]) for row in found.to_pylist()}
    assert rows == {
        "a": (1, "low", False, instant(2)),
        "b": (2, None, True, instant(3)),
        "c": (1, "x", False, instant(3)),
    }


def test_changes_name_what_happened_and_when(lab: Lab) -> None:
    lab.write(1, ("same", 1, "x"), ("touched", 1, "x"), ("changed", 1, "x"), ("gone", 1, "x"))
    lab.write(2, ("touched", 2, "x"), ("changed", 2, "y"), ("gone", 2, None), ("new", 1, "z"), ("hidden", 1, None))
    before, after = lab.slice(last=1), lab.slice()
    task = ChangesTask(lab.shape, (before,), (after,), tuple(lab.logs[1:]), ((instant(2), "C2"),))
    found = lab.jobs.read([task], lab.shape.changes_schema)
    assert found.schema.equals(lab.shape.changes_schema)
    rows = [
        (row["op"], row["completed"], *(side and (side["id"], side["ts"]) for side in (row["before"], row["after"])))
        for row in found.to_pylist()
    ]
    assert sorted(rows, key=str) == [
        ("d", "C2", ("gone", 1), None),
        ("i", "C2", None, ("new", 1)),
        ("u", "C2", ("changed", 1), ("changed", 2)),
        ("u", "C2", ("touched", 1), ("touched", 2)),
    ]


def test_a_key_that_moves_to_another_partition_is_deleted_and_inserted(tmp_path: Path) -> None:
    lab = Lab(tmp_path, shape(partition_by=("part",)))
    (here,) = lab.write(1, ("a", 1, "x", "p"))
    (gone,) = lab.write(2, ("a", 2, None, "p"))
    (there,) = lab.write(2, ("a", 2, "x", "q"))
    logs = [LogInput(file.path, instant(number)) for file, number in ((here, 1), (gone, 2), (there, 2))]
    before = ReadTask(lab.shape, "p", GROUP, logs=(logs[0],))
    after = (ReadTask(lab.shape, "p", GROUP, logs=tuple(logs[:2])), ReadTask(lab.shape, "q", GROUP, logs=(logs[2],)))
    task = ChangesTask(lab.shape, (before,), after, tuple(logs[1:]), ((instant(2), "C2"),))
    rows = lab.jobs.read([task], lab.shape.changes_schema).to_pylist()
    parts = [(row["op"], *(side and side["part"] for side in (row["before"], row["after"]))) for row in rows]
    assert sorted(parts) == [("d", "p", None), ("i", None, "q")]


def test_integer_zero_deletes_win_by_hudis_rule_only(tmp_path: Path) -> None:
    """A typed delete of an int column with value 0 looks like Hudi's "always wins"; our own rule ranks it."""
    schema = pa.schema([("id", pa.string()), ("ts", pa.int32()), ("value", pa.string()), ("part", pa.string())])
    rows = rows_and_deletes(("a", 5, "x")).set_column(1, "ts", pa.array([5], pa.int32()))
    delete = rows_and_deletes(("a", 0, None)).set_column(1, "ts", pa.array([0], pa.int32()))
    found = {}
    for fold in ("rank", "logs_first"):
        lab = Lab(tmp_path / fold, shape(schema=schema, fold=fold))
        for number, data in ((1, rows), (2, delete)):
            (file,) = lab.jobs.write(data, WriteTask(lab.shape, instant(number)))
            lab.logs.append(LogInput(file.path, instant(number)))
        found[fold] = lab.state(lab.slice())
    assert found == {"rank": {"a": (5, "x")}, "logs_first": {}}


keys = st.sampled_from("abc")
records = st.tuples(keys, st.integers(0, 3), st.booleans())
writes = st.lists(st.lists(records, min_size=1, max_size=4, unique_by=lambda record: record[0]), min_size=1, max_size=5)


def rows_of(number: int, write: list[tuple[str, int, bool]]) -> Iterator[tuple[str, int, str | None]]:
    for key, ordering, deleted in write:
        yield key, ordering, None if deleted else f"{key}{number}"


@settings(max_examples=30)
@given(
    writes, st.lists(st.integers(0, 4), max_size=2, unique=True), st.sampled_from([EVENT_TIME, COMMIT_TIME_ORDERING])
)
def test_compactions_never_change_a_read(
    tmp_path_factory: pytest.TempPathFactory, history: list[list[Any]], compacted: set[int], mode: str
) -> None:
    """Any history, compacted at any points, gives what the logs alone give."""
    lab = Lab(tmp_path_factory.mktemp("group"), shape(mode=mode))
    slice_ = lab.slice()
    for number, write in enumerate(history):
        lab.write(number + 1, *rows_of(number, write))
        slice_ = replace(slice_, logs=(*slice_.logs, lab.logs[-1]))
        if number in compacted:
            slice_, _ = lab.compact(100 + number, slice_)
        assert lab.state(slice_) == lab.state(lab.slice())
