"""Writing through the data source: what is compared with is `Table`, the same rows written by one upsert."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import hudi
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import datasource as ds

from nbcc.engine.data_source import NbccSource
from nbcc.engine.errors import BadInput, Conflict, NotATable
from nbcc.engine.schema import to_spark
from nbcc.engine.table import Table
from nbcc.engine.timeline.heartbeats import FOLDER as HEARTBEATS
from tests.builders.data_source import (
    COMMIT_TIME,
    CREATE,
    SCHEMA,
    by_table,
    deleted,
    files_in,
    load,
    plain,
    save,
)
from tests.builders.tables import table_of


def test_a_write_makes_the_table_and_commits_once(tmp_path: Path) -> None:
    tasks = [
        table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "q", 1, "y")),
        table_of(SCHEMA, ("c", "p", 1, "z")),
        table_of(SCHEMA),
    ]
    save(tmp_path / "t", tasks, **CREATE)
    table = Table.open(None, tmp_path / "t")
    assert [(i.action, i.state) for i in table.timeline()] == [("deltacommit", "completed")]
    assert plain(table.snapshot().to_pylist()) == [("a", "p", 1, "x"), ("b", "q", 1, "y"), ("c", "p", 1, "z")]
    config = table.config
    assert (config.record_key, config.ordering, config.partition_by, config.buckets) == (("id",), "ts", ("part",), 2)
    numbers = [row["_hoodie_commit_seqno"] for row in table.snapshot().to_pylist()]
    assert len(set(numbers)) == 3
    assert not [path for path in (tmp_path / "t/.hoodie/.temp").rglob("*") if path.is_file()]


def test_tasks_that_share_a_group_write_files_of_their_own_into_it(tmp_path: Path) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, (f"k{i}", "p", 1, f"{n}")) for n, i in enumerate(range(9))], **CREATE)
    table = Table.open(None, tmp_path / "t")
    logs = [log for piece in table.file_slices() for log in piece.logs]
    assert len(logs) == len({log.version for log in logs}) == 9
    assert len(table.snapshot()) == 9
    batches = hudi.HudiTableBuilder.from_base_uri(str(tmp_path / "t")).build().read()
    assert plain([row for batch in batches for row in batch.to_pylist()]) == plain(table.snapshot().to_pylist())


batches = st.lists(
    st.tuples(st.sampled_from(["k1", "k2", "k3"]), st.sampled_from(["p", "q"]), st.integers(1, 3), st.booleans()),
    min_size=1, max_size=9,
)  # fmt: skip


@given(batch=batches, cuts=st.sets(st.integers(0, 9), max_size=2), mode=st.sampled_from(["EVENT_TIME", "COMMIT_TIME"]))
@settings(max_examples=60)
def test_any_split_of_a_batch_writes_what_one_upsert_writes(
    tmp_path_factory: pytest.TempPathFactory, batch: list[Any], cuts: set[int], mode: str
) -> None:
    folder = tmp_path_factory.mktemp("split")
    rows = deleted([(key, part, ts, f"{ts}{gone}") for key, part, ts, gone in batch], [gone for *_, gone in batch])
    edges = [0, *sorted(cut for cut in cuts if cut <= len(batch)), len(batch)]
    tasks = [rows.slice(start, end - start) for start, end in pairwise(edges)]
    try:
        one = by_table(folder / "one", rows, f"{mode}_ORDERING")
    except BadInput:
        return  # rows in conflict; see below
    save(folder / "many", tasks, **CREATE, **{"hoodie.record.merge.mode": f"{mode}_ORDERING"})
    many = Table.open(None, folder / "many")
    many.compact()
    one.compact()
    one_first, many_first = one.timeline()[0], many.timeline()[0]
    assert plain(many.snapshot().to_pylist()) == plain(one.snapshot().to_pylist())
    assert many_first.completed is not None
    windows = [plain(t.incremental("000", i).to_pylist()) for t, i in ((one, one_first), (many, many_first))]
    assert windows[0] == windows[1]


@pytest.mark.parametrize("more", [{}, COMMIT_TIME])
def test_rows_in_conflict_are_refused_across_tasks_too(tmp_path: Path, more: dict[str, str]) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE, **more)
    before = files_in(tmp_path / "t")
    with pytest.raises(BadInput, match="shares key and ordering value with another row of the batch"):
        save(
            tmp_path / "t",
            [table_of(SCHEMA, ("k", "p", 1, "x"), ("b", "q", 1, "x")), table_of(SCHEMA, ("k", "p", 1, "y"))],
        )
    assert files_in(tmp_path / "t") == before


def test_a_commit_time_table_combines_rows_of_several_tasks_by_ordering(tmp_path: Path) -> None:
    tasks = [
        table_of(SCHEMA, ("k", "p", 9, "greatest")),
        table_of(SCHEMA, ("k", "p", 1, "least")),
        table_of(SCHEMA, ("j", "p", 1, "j")),
    ]
    save(tmp_path / "t", tasks, **CREATE, **COMMIT_TIME)
    table = Table.open(None, tmp_path / "t")
    assert plain(table.snapshot().to_pylist()) == [("j", "p", 1, "j"), ("k", "p", 9, "greatest")]
    logs = [log.path for piece in table.file_slices() for log in piece.logs]
    there = [p.relative_to(tmp_path / "t").as_posix() for p in (tmp_path / "t").rglob(".0*") if "log" in p.name]
    assert sorted(there) == sorted(logs)  # what was combined again is gone


@pytest.mark.parametrize("operation", ["upsert", "insert_overwrite"])
def test_a_write_that_began_before_a_resize_moves_the_files_of_its_tasks(tmp_path: Path, operation: str) -> None:
    """Its job names the old number of buckets, or the new one."""
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "q", 1, "x"))], **CREATE)
    options = {**CREATE, "hoodie.datasource.write.operation": operation}
    writer = NbccSource({"path": str(tmp_path / "t"), **options}).writer(to_spark(SCHEMA), False)
    rows = table_of(SCHEMA, *((f"k{n}", "p", 2, "new") for n in range(8)))
    message = pickle.loads(pickle.dumps(writer)).write(iter(rows.to_batches()))
    table = Table.open(None, tmp_path / "t")
    table.resize(5)
    pickle.loads(pickle.dumps(writer)).commit([message])
    kept = {"a", "b"} if operation == "upsert" else {"b"}
    found = table.snapshot()["id"].to_pylist()
    assert sorted(found) == sorted({*kept, *(f"k{n}" for n in range(8))})
    assert all(piece.file_id.endswith("-0001-0000-0000-000000000005-0") for piece in table.file_slices())
    assert all(len(table.snapshot(where=[("id", "=", f"k{n}")])) == 1 for n in range(8)), "a key is in its own bucket"
    save(tmp_path / "t", [table_of(SCHEMA, ("c", "p", 1, "x"))], **{**CREATE, "hoodie.bucket.index.num.buckets": "5"})
    assert "c" in table.snapshot()["id"].to_pylist()


def test_a_failed_task_leaves_nothing(tmp_path: Path) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE)
    before = files_in(tmp_path / "t")
    with pytest.raises(BadInput, match="null in id"):
        save(tmp_path / "t", [table_of(SCHEMA, ("b", "p", 1, "x")), table_of(SCHEMA, (None, "p", 1, "x"))])
    assert files_in(tmp_path / "t") == before
    assert len(Table.open(None, tmp_path / "t").timeline()) == 1


def test_abort_after_the_commit_keeps_it(tmp_path: Path) -> None:
    source = NbccSource({"path": str(tmp_path / "t"), **CREATE})
    writer = source.writer(to_spark(SCHEMA), False)
    message = writer.write(iter(table_of(SCHEMA, ("a", "p", 1, "x")).to_batches()))
    writer.commit([message])
    writer.abort([message])
    assert len(Table.open(None, tmp_path / "t").snapshot()) == 1


def test_a_batch_with_an_id_is_written_once(tmp_path: Path) -> None:
    sent = [table_of(SCHEMA, ("a", "p", 1, "x"))]
    for _ in range(2):
        save(tmp_path / "t", sent, **CREATE, **{"batch.id": "monday/7"})
    save(tmp_path / "t", [table_of(SCHEMA, ("b", "p", 1, "y"))], **CREATE, **{"batch.id": "monday/8"})
    table = Table.open(None, tmp_path / "t")
    assert [(i.action, i.state) for i in table.timeline()] == [("deltacommit", "completed")] * 2
    assert table.upsert(sent[0], batch_id="monday/7") == table.timeline()[0], "Table knows the same ids"
    assert plain(table.snapshot().to_pylist()) == [("a", "p", 1, "x"), ("b", "p", 1, "y")]


def test_of_two_attempts_at_one_batch_the_second_takes_its_own_back(tmp_path: Path) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE)
    source = NbccSource({"path": str(tmp_path / "t"), "batch.id": "monday/7"})
    rows = table_of(SCHEMA, ("b", "p", 1, "y"))
    attempts = [source.writer(to_spark(SCHEMA), False) for _ in range(2)]
    for attempt in attempts:
        attempt.commit([attempt.write(iter(rows.to_batches()))])
    table = Table.open(None, tmp_path / "t")
    assert [(i.action, i.state) for i in table.timeline()] == [("deltacommit", "completed")] * 2
    assert len(table.snapshot()) == 2
    assert sum(path.endswith(".avro") or ".log." in path for path in files_in(tmp_path / "t")) == 2


def test_a_batch_has_one_digest_however_many_tasks_write_it_and_by_whichever_way(tmp_path: Path) -> None:
    """Rows of one key in several tasks are written again together, and count once; so does copy on write."""
    rows = [("k", "p", 1, "x"), ("j", "p", 1, "y"), ("k", "p", 2, "z"), ("i", "q", 1, "y")]
    cow = {"hoodie.table.type": "COPY_ON_WRITE", "hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    for more in ({}, COMMIT_TIME, cow):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        save(
            path,
            [table_of(SCHEMA, *rows[:2]), table_of(SCHEMA, *rows[2:])],
            **CREATE,
            **more,
            **{"batch.id": "monday/7"},
        )
        save(path, [table_of(SCHEMA, row) for row in reversed(rows)], **{"batch.id": "monday/7"})
        table = Table.open(None, path)
        (written,) = (instant for instant in table.timeline() if instant.completed)
        assert table.upsert(table_of(SCHEMA, *rows), batch_id="monday/7") == written


def test_other_rows_under_a_batch_id_are_a_conflict(tmp_path: Path) -> None:
    one, other = (
        [table_of(SCHEMA, ("a", "p", 1, "x"))],
        [table_of(SCHEMA, ("b", "p", 1, "y")), table_of(SCHEMA, ("c", "p", 1, "y"))],
    )
    save(tmp_path / "t", one, **CREATE, **{"batch.id": "monday/7"})
    before = files_in(tmp_path / "t")
    with pytest.raises(Conflict, match=r"'monday/7' \(2 rows, .* has committed other rows under this id \(1 row, "):
        save(tmp_path / "t", other, **{"batch.id": "monday/7"})
    with pytest.warns(UserWarning, match="the committed rows are kept"):
        save(tmp_path / "t", other, **{"batch.id": "monday/7", "replay.difference": "keep"})
    with pytest.raises(BadInput, match="it is one of refuse, keep"):
        save(tmp_path / "t", other, **{"batch.id": "monday/7", "replay.difference": "yes"})
    assert files_in(tmp_path / "t") == before


def test_of_two_attempts_with_other_rows_the_second_takes_its_own_back_and_raises(tmp_path: Path) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE)
    source = NbccSource({"path": str(tmp_path / "t"), "batch.id": "monday/7"})
    first, second = (source.writer(to_spark(SCHEMA), False) for _ in range(2))
    first.commit([first.write(iter(table_of(SCHEMA, ("b", "p", 1, "y")).to_batches()))])
    before = files_in(tmp_path / "t")
    messages: list[ds.WriterCommitMessage | None] = [
        second.write(iter(table_of(SCHEMA, ("c", "p", 1, "y")).to_batches()))
    ]
    with pytest.raises(Conflict, match="has committed other rows under this id"):
        second.commit(messages)
    second.abort(messages)
    there = {path for path in files_in(tmp_path / "t") if ".inflight" not in path and ".requested" not in path}
    assert {path for path in before if ".inflight" not in path and ".requested" not in path} >= there
    assert [i.state for i in Table.open(None, tmp_path / "t").timeline()] == ["completed"] * 2


def test_an_empty_batch_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="an id is a text that is not empty"):
        save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE, **{"batch.id": ""})
    assert not (tmp_path / "t").exists()


def test_deletes_need_key_partition_and_ordering_only(tmp_path: Path) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "p", 5, "y"))], **CREATE)
    keys = table_of(SCHEMA, ("a", "p", 2, ""), ("b", "p", 2, "")).drop(["v"])
    save(tmp_path / "t", [keys], **{"hoodie.datasource.write.operation": "delete"})
    assert plain(load(tmp_path / "t")) == [("b", "p", 5, "y")]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"hoodie.table.recordkey.fields": "v"}, BadInput, "recordkey.field=v, but the table has id"),
        ({"hoodie.bucket.index.num.buckets": "8"}, BadInput, "num.buckets=8, but the table has 2"),
        ({"hoodie.bucket.index.num.buckets": "many"}, BadInput, "use a whole number from 1 on"),
        ({"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}, BadInput, "the table has EVENT_TIME_ORDERING"),
        ({"hoodie.logfile.max.size": "7"}, BadInput, "max.size=7, but the table has"),
        ({"hoodie.datasource.write.recordkey.feild": "id"}, BadInput, "did you mean hoodie.datasource.write.recordkey"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, options: dict[str, str], error: type[Exception], says: str
) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE)
    with pytest.raises(error, match=says):
        NbccSource({"path": str(tmp_path / "t"), **options}).writer(to_spark(SCHEMA), False)
    assert len(Table.open(None, tmp_path / "t").timeline()) == 1


def test_writes_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotATable, match="name its key"):
        NbccSource({"path": str(tmp_path / "t")}).writer(to_spark(SCHEMA), False)
    assert not (tmp_path / "t").exists()
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"))], **CREATE)
    with pytest.raises(BadInput, match="'v' is int64"):
        NbccSource({"path": str(tmp_path / "t")}).writer(to_spark(SCHEMA.set(3, pa.field("v", pa.int64()))), False)


def test_a_task_beats_while_its_rows_are_worked_out(tmp_path: Path) -> None:
    source = NbccSource({"path": str(tmp_path / "t"), **CREATE})
    writer = pickle.loads(pickle.dumps(source.writer(to_spark(SCHEMA), False)))
    (pending,) = Table.open(None, tmp_path / "t").timeline()
    heart = tmp_path / "t" / HEARTBEATS / pending.requested
    os.utime(heart, (0, 0))  # the process that asked for the instant has ended long ago

    def rows() -> Iterator[pa.RecordBatch]:
        assert Table.open(None, tmp_path / "t").rollback() == (), "another takes the write for dead"
        yield from table_of(SCHEMA, ("a", "p", 1, "x")).to_batches()

    writer.commit([writer.write(rows())])
    assert plain(load(tmp_path / "t")) == [("a", "p", 1, "x")]
