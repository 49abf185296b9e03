"""Options of Hudi's jobs are read by their meaning: the same rows, or a refusal with the true reason."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import hudi
import pyarrow as pa
import pytest

from nbcc import BadInput, NbccError, NotATable, Table, Unsupported
from nbcc.engine.data_source import NbccSource
from nbcc.engine.reads.times import instant_of
from nbcc.engine.schema import from_spark, to_spark
from tests.builders.data_source import CREATE, SCHEMA, load, plain, save
from tests.builders.tables import table_of

ROWS = table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "q", 1, "y"))
WRITE = "hoodie.datasource.write."
KEYGEN = "org.apache.hudi.keygen."
PAYLOAD = "org.apache.hudi.common.model."
FLAT = {name: value for name, value in CREATE.items() if "partitionpath" not in name}
OPERATION = f"{WRITE}operation"


def by_hudi_rs(path: Path) -> list[tuple[object, ...]]:
    batches = hudi.HudiTableBuilder.from_base_uri(str(path)).build().read()
    return plain([row for batch in batches for row in batch.to_pylist()])


@pytest.mark.parametrize(
    "options",
    [
        {f"{WRITE}keygenerator.class": f"{KEYGEN}SimpleKeyGenerator"},
        {f"{WRITE}keygenerator.class": f"{KEYGEN}ComplexKeyGenerator"},
        {f"{WRITE}keygenerator.type": "SIMPLE"},
        {f"{WRITE}keygenerator.class": f"{KEYGEN}CustomKeyGenerator"[:-18] + "SimpleAvroKeyGenerator"},
        {f"{WRITE}payload.class": f"{PAYLOAD}DefaultHoodieRecordPayload"},
        {f"{WRITE}payload.class": f"{PAYLOAD}OverwriteWithLatestAvroPayload"},
        {f"{WRITE}record.merger.impls": "org.apache.hudi.DefaultSparkRecordMerger"},
        {f"{WRITE}partitionpath.field": "part:SIMPLE"},
        {f"{WRITE}hive_style_partitioning": "true"},
        {"hoodie.table.cdc.enabled": "true"},
        {"hoodie.parquet.max.file.size": "125829120", "hoodie.insert.shuffle.parallelism": "2"},
        {"hoodie.bucket.index.hash.field": "id"},
        {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"},
    ],
    ids=lambda options: next(iter(options.items()))[1],
)  # fmt: skip
def test_what_means_what_nbcc_does_is_taken_without_a_word(tmp_path: Path, options: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):  # the second time the table is there, and must agree
            save(tmp_path / "t", [ROWS], **CREATE | options)
    assert plain(load(tmp_path / "t")) == plain(ROWS.to_pylist()) == by_hudi_rs(tmp_path / "t")


@pytest.mark.parametrize(
    ("options", "notice"),
    [
        ({"hoodie.index.type": "BLOOM"}, "found by a bucket index"),
        ({"hoodie.metadata.enable": "true"}, "nbcc writes no metadata table"),
        ({"hoodie.datasource.hive_sync.enable": "true", "hoodie.datasource.hive_sync.mode": "hms"}, "no metastore"),
        ({"hoodie.clustering.inline": "true"}, "no writer clusters"),
        ({"hoodie.unheard.of": "1"}, "hoodie.unheard.of .unknown to nbcc."),
    ],
)
def test_ignored_options_are_named_in_one_line(tmp_path: Path, options: dict[str, str], notice: str) -> None:
    with pytest.warns(UserWarning, match=notice) as warned:
        save(tmp_path / "t", [ROWS], **CREATE, **options)
    assert len(warned) == 1
    assert plain(load(tmp_path / "t")) == plain(ROWS.to_pylist())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({f"{WRITE}keygenerator.class": f"{KEYGEN}TimestampBasedKeyGenerator"}, "it would format a time"),
        ({f"{WRITE}keygenerator.type": "CUSTOM"}, "may compute keys or partitions"),
        ({f"{WRITE}keygenerator.class": f"{KEYGEN}NonpartitionedKeyGenerator"}, "1 key and 1 partition column"),
        ({f"{WRITE}recordkey.field": "id,v", f"{WRITE}keygenerator.type": "SIMPLE"}, "that is for one of each"),
        ({f"{WRITE}partitionpath.field": "ts:TIMESTAMP"}, "TIMESTAMP would format the value"),
        ({f"{WRITE}payload.class": f"{PAYLOAD}EmptyHoodieRecordPayload"}, "it would delete all rows of the batch"),
        ({f"{WRITE}payload.class": f"{PAYLOAD}PartialUpdateAvroPayload"}, "keep columns that the new row leaves null"),
        ({f"{WRITE}payload.class": "com.acme.Mine"}, "may make a row that is in none of the writes"),
        (
            {f"{WRITE}payload.class": "EventTimeAvroPayload", "hoodie.record.merge.mode": "commit_time_ordering"},
            "these mean the same",
        ),
        ({"hoodie.index.type": "RECORD_INDEX"}, "a global index keeps one row of a key in the whole table"),
        ({"hoodie.bucket.index.hash.field": "v"}, "computed from its whole record key"),
        ({"hoodie.populate.meta.fields": "false"}, "found and merged by Hudi's meta columns"),
        ({f"{WRITE}insert.drop.duplicates": "true"}, "rows whose key exists would be dropped"),
        ({f"{WRITE}operation": "bootstrap"}, "nbcc has no such operation"),
        ({"hoodie.compact.inline.max.delta.commit": "3"}, "did you mean hoodie.compact.inline.max.delta.commits"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:nbcc ignores hoodie.index.type")
def test_what_changes_rows_is_refused_with_the_reason(tmp_path: Path, options: dict[str, str], reason: str) -> None:
    with pytest.raises(NbccError, match=reason):
        save(tmp_path / "t", [ROWS], **CREATE | options)
    assert not list((tmp_path / "t").rglob("*.properties"))


def test_a_global_index_is_that_of_the_partition_where_there_is_one(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="found by a bucket index"):
        save(tmp_path / "t", [ROWS], **FLAT, **{"hoodie.index.type": "GLOBAL_BLOOM"})
    assert len(load(tmp_path / "t")) == 2


def test_a_job_without_an_ordering_column_merges_by_commit_time_as_in_hudi(tmp_path: Path) -> None:
    options = {name: value for name, value in CREATE.items() if "precombine" not in name}
    for value in ("old", "new"):
        save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, value))], **options)
    assert [row["v"] for row in load(tmp_path / "t")] == ["new"]
    with pytest.raises(NotATable, match="no option names a record key"):
        save(tmp_path / "u", [ROWS])


def test_the_lock_of_a_job_is_that_of_the_table(tmp_path: Path) -> None:
    save(tmp_path / "t", [ROWS], **CREATE, **{"hoodie.write.lock.provider": "a.b.FileSystemBasedLockProvider"})
    assert Table.open(None, tmp_path / "t").config.coordination.lock == "FileSystemBasedLockProvider"
    with pytest.raises(BadInput, match="two kinds of locks exclude nothing"):
        save(tmp_path / "t", [ROWS], **{"hoodie.write.lock.provider": "a.b.StorageBasedLockProvider"})
    with pytest.raises(BadInput, match="use one of InProcessLockProvider"):
        save(tmp_path / "u", [ROWS], **CREATE, **{"hoodie.write.lock.provider": "a.b.HiveMetastoreBasedLockProvider"})


@pytest.mark.parametrize("name", ["PARTITION", "TABLE"])
def test_insert_overwrite_replaces_partitions_or_the_table(tmp_path: Path, name: str) -> None:
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "q", 1, "y"), ("c", "q", 9, "z"))], **CREATE)
    operation = "insert_overwrite" if name == "PARTITION" else "insert_overwrite_table"
    tasks = [table_of(SCHEMA, ("d", "q", 1, "n"), ("b", "q", 0, "n")), table_of(SCHEMA, ("e", "q", 1, "n"))]
    save(tmp_path / "t", tasks, **{OPERATION: operation})
    kept = [("a", "p", 1, "x")] if name == "PARTITION" else []
    wanted = sorted([*kept, ("d", "q", 1, "n"), ("b", "q", 0, "n"), ("e", "q", 1, "n")])
    assert plain(load(tmp_path / "t")) == wanted == by_hudi_rs(tmp_path / "t")
    numbers = [row["_hoodie_commit_seqno"] for row in load(tmp_path / "t")]
    assert len(set(numbers)) == len(wanted)
    table = Table.open(None, tmp_path / "t")
    assert all(instant.completed for instant in table.timeline()), "the instant of the tasks is undone"
    stored = {log.path for piece in table.file_slices() for log in piece.logs}
    logs = {path.relative_to(tmp_path / "t").as_posix() for path in (tmp_path / "t").rglob(".0*.log.*")}
    assert {path for path in logs if ".hoodie" not in path} - stored == {
        path for path in logs if table.timeline()[0].requested in path} - stored  # fmt: skip


def test_mode_overwrite_replaces_the_rows_and_keeps_the_history(tmp_path: Path) -> None:
    def overwrite(rows: pa.Table, **options: str) -> None:
        writer = NbccSource({"path": str(tmp_path / "t"), **options}).writer(to_spark(rows.schema), True)
        writer.commit([writer.write(iter(rows.to_batches()))])

    overwrite(ROWS, **CREATE)  # there is no table: it is made
    first = Table.open(None, tmp_path / "t").timeline()[0]
    overwrite(table_of(SCHEMA, ("c", "r", 1, "z")), **CREATE)
    assert plain(load(tmp_path / "t")) == [("c", "r", 1, "z")]
    assert plain(load(tmp_path / "t", **{"as.of.instant": first.completed or ""})) == plain(ROWS.to_pylist())
    with pytest.raises(BadInput, match=r'use mode\("append"\)'):
        overwrite(ROWS, **{OPERATION: "delete"})


def test_a_failed_overwrite_changes_nothing(tmp_path: Path) -> None:
    save(tmp_path / "t", [ROWS], **CREATE)
    twice = [table_of(SCHEMA, ("k", "p", 1, "x")), table_of(SCHEMA, ("k", "p", 1, "other"))]
    with pytest.raises(BadInput, match="share"):
        save(tmp_path / "t", twice, **{OPERATION: "insert_overwrite"})
    assert plain(load(tmp_path / "t")) == plain(ROWS.to_pylist())
    assert len(Table.open(None, tmp_path / "t").timeline()) == 1


def test_partitions_are_deleted_by_name_or_by_rows(tmp_path: Path) -> None:
    rows = table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "q", 1, "y"), ("c", "r", 1, "z"))
    save(tmp_path / "t", [rows], **CREATE)
    save(tmp_path / "t", [rows], **{OPERATION: "delete_partition", f"{WRITE}partitions.to.delete": "p"})
    assert plain(load(tmp_path / "t")) == [("b", "q", 1, "y"), ("c", "r", 1, "z")]
    save(tmp_path / "t", [pa.table({"part": ["q", "q"]})], **{OPERATION: "delete_partition"})
    assert plain(load(tmp_path / "t")) == [("c", "r", 1, "z")] == by_hudi_rs(tmp_path / "t")
    with pytest.raises(BadInput, match="did you mean 'part=r'"):
        save(tmp_path / "t", [rows], **{OPERATION: "delete_partition", f"{WRITE}partitions.to.delete": "rr"})
    with pytest.raises(BadInput, match=r"name the partitions in hoodie.datasource.write.partitions.to.delete"):
        save(tmp_path / "t", [pa.table({"id": ["a"]})], **{OPERATION: "delete_partition"})


def test_an_insert_updates_as_in_a_bucket_index_of_hudi(tmp_path: Path) -> None:
    save(tmp_path / "t", [ROWS], **CREATE)
    save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", 2, "new"))], **{OPERATION: "insert"})
    assert plain(load(tmp_path / "t")) == [("a", "p", 2, "new"), ("b", "q", 1, "y")]


def test_a_nullable_column_may_be_missing_and_an_extra_one_is_added_on_request(tmp_path: Path) -> None:
    save(tmp_path / "t", [ROWS], **CREATE)
    save(tmp_path / "t", [ROWS.drop_columns(["v"]).set_column(2, "ts", pa.array([2, 2]))])
    assert [row["v"] for row in load(tmp_path / "t")] == [None, None]
    with pytest.raises(BadInput, match="lacks 'ts'"):
        save(tmp_path / "t", [ROWS.drop_columns(["ts"])])
    wider = ROWS.set_column(2, "ts", pa.array([3, 3])).append_column("n", pa.array([1, 2], pa.int8()))
    with pytest.raises(BadInput, match=r"add it by Table.alter_schema or by the write option mergeSchema=true"):
        save(tmp_path / "t", [wider])
    for name in ("mergeSchema", f"{WRITE}reconcile.schema"):
        save(tmp_path / "t", [wider], **{name: "true"})
        wider = wider.append_column("m", pa.array(["m", "m"]))
    assert [(row["n"], row["m"]) for row in load(tmp_path / "t")] == [(1, "m"), (2, "m")]
    save(tmp_path / "t", [ROWS.set_column(2, "ts", pa.array([4, 4]))])  # a job that knows nothing of them goes on
    assert [(row["v"], row["n"]) for row in load(tmp_path / "t")] == [("x", None), ("y", None)]
    assert len(by_hudi_rs(tmp_path / "t")) == 2


def test_a_missing_column_is_refused_where_a_null_would_overwrite_a_value(tmp_path: Path) -> None:
    options = {"nbcc.partial.update.mode": "SET_COLUMNS"}
    table = Table.create(None, tmp_path / "t", SCHEMA, record_key="id", ordering_fields="ts", options=options)
    with pytest.raises(BadInput, match="lacks 'v'"):
        table.upsert(ROWS.drop_columns(["v"]))


def test_small_integers_and_times_without_a_zone(tmp_path: Path) -> None:
    assert from_spark(to_spark(pa.schema([("t", pa.int8()), ("s", pa.int16())]))).types == [pa.int8(), pa.int16()]
    rows = pa.table({
        "id": ["a"], "ts": pa.array([1], pa.int64()), "t": pa.array([-3], pa.int8()), "s": pa.array([300], pa.int16()),
        "at": pa.array([0], pa.timestamp("us")),
    })  # fmt: skip
    with pytest.raises(Unsupported, match="hudi-rs cannot read the table at all"):
        save(tmp_path / "t", [rows], **FLAT)
    save(tmp_path / "t", [rows], **FLAT, **{"session.time.zone": "Asia/Tokyo"})
    (row,) = load(tmp_path / "t")
    assert (row["t"], row["s"], row["at"].isoformat()) == (-3, 300, "1969-12-31T15:00:00+00:00")


def test_several_partition_columns(tmp_path: Path) -> None:
    options = CREATE | {f"{WRITE}partitionpath.field": "part,v", f"{WRITE}hive_style_partitioning": "true"}
    for ts in (1, 2):
        save(tmp_path / "t", [table_of(SCHEMA, ("a", "p", ts, "x"), ("b", "q", ts, "y"))], **options)
    Table.open(None, tmp_path / "t").compact()
    assert plain(load(tmp_path / "t")) == [("a", "p", 2, "x"), ("b", "q", 2, "y")] == by_hudi_rs(tmp_path / "t")
    with pytest.raises(Unsupported, match="hudi-rs refuses several"):
        save(tmp_path / "u", [ROWS], **CREATE | {f"{WRITE}precombine.field": "ts,v"})


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-28", "20261128000000000"),
        ("2026-11-28 16:00:00", "20261128160000000"),
        ("2026-11-28 16:00:00.125", "20261128160000125"),
        ("2026-11-28T17:00:00+01:00", "20261128160000000"),
        ("2026-11-28T16:00:00Z", "20261128160000000"),
        ("20261128160000", "20261128160000999"),
        ("earliest", "0" * 17),
    ],
)
def test_one_parser_of_times(text: str, instant: str) -> None:
    assert instant_of(text, "read the table as of") == instant


def test_an_error_hides_the_traceback_of_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for read in (True, False):
        monkeypatch.delenv("SPARK_HIDE_TRACEBACK", raising=False)
        source = NbccSource({"path": str(tmp_path / "t"), "hoodie.datasource.merge.type": "skip_merge"})
        with pytest.raises(Unsupported, match="unmerged"):
            source.schema() if read else source.writer(to_spark(SCHEMA), False)
        assert os.environ["SPARK_HIDE_TRACEBACK"]
