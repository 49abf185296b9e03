"""Writes to tables of Hudi: the metadata table is removed, nbcc's properties are added, buckets keep their ids."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import BadInput, Table, Unsupported
from nbcc.engine.data_source.options import write_options
from nbcc.engine.data_source.write import writable
from nbcc.engine.definition.load import load_properties
from nbcc.engine.reads.times import BEGINNING
from nbcc.engine.storage import open_storage
from tests.builders.hudi import FACTS, unpacked

pytestmark = pytest.mark.filterwarnings("ignore:nbcc. .* has a metadata table")

TAKE_OVER, BUCKETS = "nbcc.take.over", "hoodie.bucket.index.num.buckets"
OPTIONS = {TAKE_OVER: "true", BUCKETS: "2"}
COLUMNS = ("id", "day", "region", "ts", "value")
SCHEMA = pa.schema([(name, pa.int64() if name == "ts" else pa.string()) for name in COLUMNS])
BATCH = [
    ("k0", "2026-11-01", "eu", 900, "updated"),
    ("new", "2026-11-01", "us", 901, "inserted"),
    ("k9", "2026-11-03", "eu", 902, "in a new partition"),
]


def arrow(rows: list[Any]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], schema=SCHEMA)


def rows_of(table: Table) -> dict[tuple[str, str, str], tuple[int, str]]:
    found = table.snapshot().to_pylist()
    assert len(found) == len({(row["id"], row["day"], row["region"]) for row in found})
    return {(row["id"], row["day"], row["region"]): (row["ts"], row["value"]) for row in found}


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["cow_buckets_cleaned", "mor_buckets"])
def test_a_write_takes_it_over(name: str, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    table = Table.open(None, folder, options=OPTIONS)
    expected = rows_of(table)
    table.upsert(arrow(BATCH))
    expected |= {row[:3]: row[3:] for row in BATCH}
    assert rows_of(table) == rows_of(Table.open(None, folder)) == expected
    assert not [path for path in (folder / ".hoodie" / "metadata").rglob("*") if path.is_file()]
    properties = load_properties(open_storage(folder))
    assert not [key for key in properties if key.startswith("hoodie.table.metadata.partitions")]
    assert properties["nbcc.buckets"] == "2"
    assert properties["hoodie.table.timeline.timezone"] == "UTC"

    groups = {(piece.partition, piece.file_id[:8]) for piece in table.file_slices()}
    assert len(groups) == len({(piece.partition, piece.file_id) for piece in table.file_slices()})
    table.delete(arrow(BATCH[:1]))
    del expected[BATCH[0][:3]]
    assert rows_of(table) == expected
    if table.config.merge_on_read:
        assert table.compact() is not None
        assert rows_of(table) == expected


def test_replaced_partitions_keep_the_ids_of_their_buckets(tmp_path: Path) -> None:
    table = Table.open(None, unpacked("mor_buckets", tmp_path), options=OPTIONS)
    before = {(piece.partition, piece.file_id) for piece in table.file_slices()}
    rows = [row for row in BATCH if row[1:3] == ("2026-11-01", "us")]
    table.insert_overwrite(arrow(rows))
    assert {key for key in rows_of(table) if key[1:] == ("2026-11-01", "us")} == {rows[0][:3]}
    assert {(piece.partition, piece.file_id) for piece in table.file_slices()} == before
    table.bulk_insert(arrow([("other", "2026-11-01", "eu", 5, "bulk"), ("far", "2026-11-09", "eu", 5, "bulk")]))
    assert rows_of(table)["other", "2026-11-01", "eu"] == (5, "bulk")
    after = {(piece.partition, piece.file_id) for piece in table.file_slices()}
    assert {partition for partition, _ in after - before} == {"day=2026-11-09/region=eu"}


def test_without_the_option_nothing_is_written(tmp_path: Path) -> None:
    folder = unpacked("mor_buckets", tmp_path)
    before, table = files(folder), Table.open(None, folder, options={BUCKETS: "2"})
    exists = "its metadata table (column_stats, files, partition_stats) is active and would hide our commits"
    with pytest.raises(Unsupported, match=re.escape(f"{exists}: set {TAKE_OVER}=true")):
        table.upsert(arrow(BATCH))
    assert files(folder) == before


def test_reads_and_dry_runs_do_not_take_it_over(tmp_path: Path) -> None:
    folder = unpacked("mor_buckets", tmp_path)
    before, table = files(folder), Table.open(None, folder, options=OPTIONS)
    assert len(table.snapshot()) == len(FACTS["snapshot"]["mor_buckets"])
    now = table.settled()
    for read in (
        table.read_optimized, table.timeline, table.file_slices, lambda: table.as_of(str(now)),
        lambda: table.incremental(BEGINNING), lambda: table.replaced(BEGINNING),
    ):  # fmt: skip
        read()
    with pytest.raises(Unsupported):
        table.maintain(dry_run=True)
    assert files(folder) == before


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ("1", "with 1 buckets, but the file group .* has keys of other buckets"),
        ("4", "with 4 buckets, but the file group .* has keys of other buckets"),
        (None, f"its 13 keys are too few to show how many buckets it has: set {BUCKETS}"),
    ],
)
def test_a_number_of_buckets_that_is_wrong_or_unknown(count: str | None, message: str, tmp_path: Path) -> None:
    folder = unpacked("mor_buckets", tmp_path)
    before = files(folder)
    options = {TAKE_OVER: "true", **({BUCKETS: count} if count else {})}
    with pytest.raises(BadInput, match=message):
        Table.open(None, folder, options=options).upsert(arrow(BATCH))
    assert files(folder) == before


def test_enough_keys_show_the_number_of_buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbcc.engine.services.take_over._KEYS", 13)
    table = Table.open(None, unpacked("mor_buckets", tmp_path), options={TAKE_OVER: "true"})
    table.upsert(arrow(BATCH))
    assert table.config.buckets == 2


def test_a_table_without_a_bucket_index_is_read_only(tmp_path: Path) -> None:
    folder = unpacked("cow_plain_paths", tmp_path)
    before = files(folder)
    with pytest.raises(Unsupported, match="has no bucket: copy it"):
        Table.open(None, folder, options=OPTIONS).upsert(arrow(BATCH))
    assert files(folder) == before


def test_a_metadata_table_that_hudi_built_again(tmp_path: Path) -> None:
    """A table that is open already removes it before its next write; a table without the option refuses the write."""
    folder = unpacked("mor_buckets", tmp_path)
    table = Table.open(None, folder, options=OPTIONS)
    table.upsert(arrow(BATCH))
    properties = folder / ".hoodie" / "hoodie.properties"
    with properties.open("a") as file:
        file.write("hoodie.table.metadata.partitions=files\n")
    with pytest.raises(Unsupported, match="would hide our commits"):
        Table.open(None, folder).upsert(arrow(BATCH))
    table.upsert(arrow([(*BATCH[0][:3], 999, "again")]))
    assert "hoodie.table.metadata.partitions" not in load_properties(open_storage(folder))
    assert rows_of(Table.open(None, folder))[BATCH[0][:3]] == (999, "again")


def test_the_data_source_takes_it_over(tmp_path: Path) -> None:
    folder = unpacked("mor_buckets", tmp_path)
    options = {"path": str(folder), "hoodie.datasource.write.partitionpath.field": "day,region", **OPTIONS}
    for _ in range(2):  # of a table of Hudi, and of a table that was taken over
        table = writable(write_options(options), SCHEMA)
        assert table.config.own
        assert table.config.partition_by == ("day", "region")
        assert table.config.buckets == 2
    with pytest.raises(BadInput, match=f"{BUCKETS}=3"):
        writable(write_options({**options, BUCKETS: "3"}), SCHEMA)


def test_the_newest_write_of_a_bucket_is_found_by_its_key(tmp_path: Path) -> None:
    """A condition on the whole key reads one bucket, in file groups that Hudi named."""
    table = Table.open(None, unpacked("mor_buckets", tmp_path), options=OPTIONS)
    table.upsert(arrow(BATCH))
    found = Counter(row["id"] for row in table.snapshot(where=[("id", "=", "k9")]).to_pylist())
    assert found["k9"] == sum(key[0] == "k9" for key in rows_of(table))
