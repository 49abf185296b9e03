"""The data source: Spark's processes played by hand where many cases are needed, Spark itself for the rest.

What is compared with is `Table`: the same rows written by one upsert, the same query asked of it.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import hudi
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import datasource as ds

from nbcc.engine.errors import BadInput, NotATable, Unsupported
from nbcc.engine.schema import to_spark
from nbcc.engine.spark import source_write
from nbcc.engine.spark.source import NbccSource
from nbcc.engine.spark.source_filters import pushable
from nbcc.engine.spark.source_options import read_options, write_options
from nbcc.engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("v", pa.string())])
CREATE = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.bucket.index.num.buckets": "2",
}
COMMIT_TIME = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}

Rows = Sequence[tuple[str, str, int, str]]


def rows_of(values: Rows) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, value, strict=True)) for value in values], SCHEMA)


def deleted(values: Rows, flags: Sequence[bool]) -> pa.Table:
    return rows_of(values).append_column("_hoodie_is_deleted", pa.array(flags, pa.bool_()))


def save(path: Path, tasks: Sequence[pa.Table], **options: str) -> None:
    """What Spark does in its processes: make a writer, run its tasks, commit; abort if something fails."""
    source = NbccSource({"path": str(path), **options})
    writer = source.writer(to_spark(tasks[0].schema), False)
    messages = []
    with pytest.MonkeyPatch.context() as patch:
        try:
            for number, rows in enumerate(tasks):
                context = SimpleNamespace(partitionId=lambda number=number: number)
                patch.setattr(source_write, "TaskContext", SimpleNamespace(get=lambda context=context: context))
                there = pickle.loads(pickle.dumps(writer))
                messages.append(pickle.loads(pickle.dumps(there.write(iter(rows.to_batches(max_chunksize=3))))))
            pickle.loads(pickle.dumps(writer)).commit(messages)
        except Exception:
            writer.abort(messages)
            raise


def load(path: Path, filters: Sequence[ds.Filter] = (), **options: str) -> list[dict[str, Any]]:
    """What Spark does to read: the schema at load, then partitions and their rows."""
    source = NbccSource({"path": str(path), **options})
    schema = source.schema()
    reader: Any = pickle.loads(pickle.dumps(source)).reader(schema)
    assert list(reader.pushFilters([*filters])) == []
    reader = pickle.loads(pickle.dumps(reader))
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def files_in(path: Path) -> list[str]:
    """All files of a table, but for the one that says that a folder is a partition."""
    return sorted(str(file) for file in path.rglob("*") if file.is_file() and "partition_metadata" not in file.name)


def plain(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in ("id", "part", "ts", "v")) for row in rows)


def by_table(path: Path, rows: pa.Table, merge_mode: str) -> Table:
    table = Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=2, merge_mode=merge_mode
    )
    table.upsert(rows)
    return table


# Writing.


def test_a_write_makes_the_table_and_commits_once(tmp_path: Path) -> None:
    tasks = [rows_of([("a", "p", 1, "x"), ("b", "q", 1, "y")]), rows_of([("c", "p", 1, "z")]), rows_of([])]
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
    save(tmp_path / "t", [rows_of([(f"k{i}", "p", 1, f"{n}")]) for n, i in enumerate(range(9))], **CREATE)
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
    save(tmp_path / "t", [rows_of([("a", "p", 1, "x")])], **CREATE, **more)
    before = files_in(tmp_path / "t")
    with pytest.raises(BadInput, match="shares key and ordering value with another row of the batch"):
        save(tmp_path / "t", [rows_of([("k", "p", 1, "x"), ("b", "q", 1, "x")]), rows_of([("k", "p", 1, "y")])])
    assert files_in(tmp_path / "t") == before


def test_a_commit_time_table_combines_rows_of_several_tasks_by_ordering(tmp_path: Path) -> None:
    tasks = [rows_of([("k", "p", 9, "greatest")]), rows_of([("k", "p", 1, "least")]), rows_of([("j", "p", 1, "j")])]
    save(tmp_path / "t", tasks, **CREATE, **COMMIT_TIME)
    table = Table.open(None, tmp_path / "t")
    assert plain(table.snapshot().to_pylist()) == [("j", "p", 1, "j"), ("k", "p", 9, "greatest")]
    logs = [log.path for piece in table.file_slices() for log in piece.logs]
    there = [p.relative_to(tmp_path / "t").as_posix() for p in (tmp_path / "t").rglob(".0*") if "log" in p.name]
    assert sorted(there) == sorted(logs)  # what was combined again is gone


def test_a_failed_task_leaves_nothing(tmp_path: Path) -> None:
    save(tmp_path / "t", [rows_of([("a", "p", 1, "x")])], **CREATE)
    before = files_in(tmp_path / "t")
    with pytest.raises(BadInput, match="null in id"):
        save(tmp_path / "t", [rows_of([("b", "p", 1, "x")]), rows_of([(None, "p", 1, "x")])])  # type: ignore[list-item]
    assert files_in(tmp_path / "t") == before
    assert len(Table.open(None, tmp_path / "t").timeline()) == 1


def test_abort_after_the_commit_keeps_it(tmp_path: Path) -> None:
    source = NbccSource({"path": str(tmp_path / "t"), **CREATE})
    writer = source.writer(to_spark(SCHEMA), False)
    message = writer.write(iter(rows_of([("a", "p", 1, "x")]).to_batches()))
    writer.commit([message])
    writer.abort([message])
    assert len(Table.open(None, tmp_path / "t").snapshot()) == 1


def test_deletes_need_key_partition_and_ordering_only(tmp_path: Path) -> None:
    save(tmp_path / "t", [rows_of([("a", "p", 1, "x"), ("b", "p", 5, "y")])], **CREATE)
    keys = rows_of([("a", "p", 2, ""), ("b", "p", 2, "")]).drop(["v"])
    save(tmp_path / "t", [keys], **{"hoodie.datasource.write.operation": "delete"})
    assert plain(load(tmp_path / "t")) == [("b", "p", 5, "y")]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"hoodie.table.recordkey.fields": "v"}, BadInput, "recordkey.field=v, but the table has id"),
        ({"hoodie.bucket.index.num.buckets": "8"}, BadInput, "num.buckets=8, but the table has 2"),
        ({"hoodie.bucket.index.num.buckets": "many"}, BadInput, "no whole number"),
        ({"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}, BadInput, "the table has EVENT_TIME_ORDERING"),
        ({"hoodie.logfile.max.size": "7"}, BadInput, "max.size=7, but the table has"),
        ({"hoodie.datasource.write.operation": "bulk_insert"}, Unsupported, "use upsert or delete"),
        ({"hoodie.index.type": "BLOOM"}, Unsupported, "leave it out, or set it to BUCKET"),
        ({"hoodie.datasource.write.payload.class": "x.Y"}, Unsupported, "leave it out"),
        ({"hoodie.datasource.write.recordkey.feild": "id"}, BadInput, "did you mean hoodie.datasource.write.recordkey"),
        ({"mergeSchema": "true"}, BadInput, "there is no such option"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, options: dict[str, str], error: type[Exception], says: str
) -> None:
    save(tmp_path / "t", [rows_of([("a", "p", 1, "x")])], **CREATE)
    with pytest.raises(error, match=says):
        NbccSource({"path": str(tmp_path / "t"), **options}).writer(to_spark(SCHEMA), False)
    assert len(Table.open(None, tmp_path / "t").timeline()) == 1


def test_writes_that_cannot_be_are_refused(tmp_path: Path) -> None:
    source = NbccSource({"path": str(tmp_path / "t"), **CREATE})
    with pytest.raises(Unsupported, match="overwrite"):
        source.writer(to_spark(SCHEMA), True)
    with pytest.raises(NotATable, match="name its key"):
        NbccSource({"path": str(tmp_path / "t")}).writer(to_spark(SCHEMA), False)
    assert not (tmp_path / "t").exists()
    save(tmp_path / "t", [rows_of([("a", "p", 1, "x")])], **CREATE)
    with pytest.raises(BadInput, match="'v' is int64"):
        source.writer(to_spark(SCHEMA.set(3, pa.field("v", pa.int64()))), False)


def test_other_options_of_hudi_are_ignored_with_one_line() -> None:
    with pytest.warns(UserWarning, match="hoodie.cleaner.commits.retained: ignored"):
        assert write_options({"path": "t", "hoodie.cleaner.commits.retained": "3"}).table == {}


# Reading.


@pytest.fixture
def written(tmp_path: Path) -> Table:
    path = tmp_path / "t"
    first = rows_of([(f"k{i}", "pq"[i % 2], i, f"v{i}") for i in range(10)])
    table = by_table(path, first, "EVENT_TIME_ORDERING")
    table.compact()
    table.upsert(deleted([("k1", "q", 20, "new"), ("k2", "p", 20, ""), ("k11", "q", 1, "new")], [False, True, False]))
    return table


def test_every_query_is_what_the_table_answers(written: Table, tmp_path: Path) -> None:
    path = tmp_path / "t"
    first, _, last = (instant.completed for instant in written.timeline())
    assert first is not None
    assert last is not None

    def same(found: list[dict[str, Any]], wanted: pa.Table) -> bool:
        return sorted(map(repr, found)) == sorted(map(repr, wanted.to_pylist())) and len(found) > 0

    query = "hoodie.datasource.query.type"
    window = {query: "incremental", "hoodie.datasource.read.begin.instanttime": first}
    assert same(load(path), written.snapshot())
    assert same(load(path, **{"as.of.instant": first}), written.as_of(first))
    assert same(load(path, **{query: "read_optimized"}), written.read_optimized())
    assert same(load(path, **window), written.incremental(first))
    ended = {**window, "hoodie.datasource.read.end.instanttime": last}
    assert same(load(path, **ended), written.incremental(first, last))
    changes = {**window, "hoodie.datasource.query.incremental.format": "cdc"}
    assert same(load(path, **changes), written.changes(first))


def test_columns_come_in_the_order_asked_for(written: Table, tmp_path: Path) -> None:
    found = load(tmp_path / "t", columns="v, id")
    assert [list(row) for row in found] == [["v", "id"]] * len(written.snapshot())
    with pytest.raises(BadInput, match="did you mean 'part'"):
        load(tmp_path / "t", columns="id,prat")


def test_what_is_read_is_settled_at_load(written: Table, tmp_path: Path) -> None:
    source = NbccSource({"path": str(tmp_path / "t")})
    schema = source.schema()
    written.upsert(rows_of([("later", "p", 1, "x")]))
    written.compact()
    reader: Any = source.reader(schema)
    found = [row["id"] for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    assert "later" not in found
    assert len(found) == len(written.snapshot()) - 1


def test_a_key_and_a_partition_leave_one_file_group(written: Table, tmp_path: Path) -> None:
    def groups(*filters: ds.Filter) -> int:
        source = NbccSource({"path": str(tmp_path / "t")})
        reader: Any = source.reader(source.schema())
        assert list(reader.pushFilters([*filters])) == []
        return len(reader.partitions())

    key, part = ds.EqualTo(("id",), "k3"), ds.EqualTo(("part",), "q")
    assert [groups(), groups(key), groups(part), groups(key, part)] == [3, 1, 2, 1]
    assert plain(load(tmp_path / "t", [key])) == [("k3", "q", 3, "v3")]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"as.of.instant": "20991231235959999"}, "has not happened yet"),
        ({"as.of.instant": "2026-11-21T00:00:00"}, "no time zone"),
        ({"as.of.instant": "soon"}, "no time"),
        ({"hoodie.datasource.query.type": "incremental"}, "begin.instanttime is missing"),
        ({"hoodie.datasource.query.type": "changes"}, "use snapshot or read_optimized or incremental"),
        ({"hoodie.datasource.read.begin.instanttime": "0"}, "query.type=incremental"),
        ({"hoodie.datasource.query.typ": "snapshot"}, "did you mean hoodie.datasource.query.type"),
    ],
)
def test_reads_that_cannot_be_are_refused(written: Table, tmp_path: Path, options: dict[str, str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        load(tmp_path / "t", **options)


def test_hudis_spellings_of_times() -> None:
    given = {"path": "t", "hoodie.datasource.query.type": "incremental"}
    begin = "hoodie.datasource.read.begin.instanttime"
    assert read_options({**given, begin: "earliest"}).after == "0" * 17
    assert read_options({**given, begin: "20260101000000000"}).after == "20260101000000000"
    assert str(read_options({**given, begin: "2026-01-01T00:00:00.001Z"}).after) == "2026-01-01 00:00:00.001000+00:00"


KINDS = pa.schema([("n", pa.int32()), ("s", pa.string()), ("d", pa.date32()), ("b", pa.bool_()), ("f", pa.float64())])


def test_what_means_something_else_in_spark_stays_there() -> None:
    number, fraction = ("n",), ("f",)
    stays = [
        ds.EqualTo(fraction, 1.0), ds.Not(ds.GreaterThan(fraction, 0.5)), ds.EqualTo(number, 2**40),
        ds.EqualTo(number, None), ds.EqualTo(number, True), ds.In(number, (1, None)), ds.EqualTo(("n", "x"), 1),
    ]  # fmt: skip
    assert [pushable(each, KINDS) for each in stays] == [None] * len(stays)


# On Spark.

FILTERS = (
    "id = 'k3' AND part = 'q'",
    "ts > 3 AND ts <= 20 AND v IS NOT NULL",
    "id IN ('k1', 'k11', 'none') AND v <=> 'new'",
    "NOT (id IN ('k1', 'k3')) AND part <> 'p'",
    "id LIKE 'k1%' AND v LIKE '%w' AND id NOT LIKE '%3%'",
)


def same_rows(left: DataFrame, right: DataFrame) -> bool:
    return sorted(map(repr, left.collect())) == sorted(map(repr, right.collect()))


def test_spark_finds_reads_and_writes_the_table(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    values = [(f"k{i}", "pq"[i % 2], i, f"v{i}") for i in range(30)]
    rows = spark.createDataFrame([*values, ("k1", "q", 99, "newer")], to_spark(SCHEMA)).repartition(3)
    rows.write.format("nbcc").mode("append").options(**CREATE).save(path)
    table = Table.open(spark, path)
    assert [(i.action, i.state) for i in table.timeline()] == [("deltacommit", "completed")]
    assert max(len(piece.logs) for piece in table.file_slices()) > 1
    wanted = plain([dict(zip(SCHEMA.names, row, strict=True)) for row in [*values, ("k1", "q", 99, "newer")]])
    wanted.remove(("k1", "q", 1, "v1"))
    assert plain([row.asDict() for row in table.snapshot().collect()]) == wanted
    found = spark.read.format("nbcc").load(path)
    assert same_rows(found, table.snapshot())
    bad = spark.createDataFrame([("x", "p", 1, "x"), (None, "p", 1, "x")], to_spark(SCHEMA)).repartition(2)
    with pytest.raises(Exception, match="null in id"):
        bad.write.format("nbcc").mode("append").save(path)
    assert len(table.timeline()) == 1
    assert found.count() == 30


def test_filters_handed_down_keep_what_spark_keeps(spark: SparkSession, written: Table, tmp_path: Path) -> None:
    name = "spark.sql.python.filterPushdown.enabled"
    path = str(tmp_path / "t")
    snapshot = spark.createDataFrame(written.snapshot().to_pylist())
    before = spark.conf.get(name, "false")
    spark.conf.set(name, "true")
    try:
        found = spark.read.format("nbcc").load(path)
        kept = {text: plain([row.asDict() for row in found.where(text).collect()]) for text in FILTERS}
    finally:
        spark.conf.set(name, before or "false")
    rows = plain([row.asDict() for row in snapshot.collect()])
    assert len(rows) == 10
    assert kept == {text: plain([row.asDict() for row in snapshot.where(text).collect()]) for text in FILTERS}
    assert all(0 < len(each) < 10 for each in kept.values())
