"""Conditions on reads: cases in which a reader must not skip data, the bytes that it saves, and messages."""

from __future__ import annotations

import dataclasses
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import datasource as ds

from nbcc import BadInput, Table
from nbcc.engine import parquet
from nbcc.engine.data import ranged_file
from nbcc.engine.data.jobs import PlannedReads
from nbcc.engine.data.ranges import LogRanges, Range, decode_ranges, encode_ranges, ranges_of_groups, upper_bound
from nbcc.engine.data_source.options import ReadOptions
from nbcc.engine.data_source.read import GroupReader, plan_of
from nbcc.engine.errors import Damaged
from nbcc.engine.schema import to_spark
from nbcc.engine.timeline.metadata import RANGES, load_commit

from .where_tables import RangedMemory, table_in_memory

SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("n", pa.int32()), ("f", pa.float64()), ("s", pa.string())])
ROWS = 60_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of two rows, and files that are read in ranges even if they are small."""
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    monkeypatch.setattr(ranged_file, "WHOLE_BYTES", 0)
    monkeypatch.setattr(ranged_file, "TAIL_BYTES", 1 << 9)


def rows(*listed: tuple[int, int, int | None], f: float | None = None, s: str | None = None) -> pa.Table:
    """Rows (id, ts, n)."""
    return pa.Table.from_pylist([{"id": k, "ts": ts, "n": n, "f": f, "s": s} for k, ts, n in listed], SCHEMA)


def found(answer: pa.Table) -> list[tuple[int, int | None]]:
    return sorted((row["id"], row["n"]) for row in answer.to_pylist())


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def test_a_slice_is_read_if_only_a_log_of_it_matches(mode: str) -> None:
    table, _ = table_in_memory(SCHEMA, merge_mode=mode)
    table.upsert(rows(*((key, 1, 0) for key in range(6))))
    table.compact()
    table.upsert(rows((3, 2, 100)))
    assert found(table.snapshot(where=[("n", ">", 50)])) == [(3, 100)]
    assert found(table.snapshot(where=pc.field("n") <= 50)) == [(key, 0) for key in (0, 1, 2, 4, 5)]


@pytest.mark.usefixtures("small")
def test_a_row_in_a_row_group_without_matches_still_hides_an_older_row_of_a_log() -> None:
    table, storage = table_in_memory(SCHEMA)
    table.upsert(rows(*((key, 9, 0) for key in range(6))))
    table.cluster(["id"])
    table.upsert(rows((3, 5, 100), (7, 5, 100)))
    assert found(table.snapshot(where=[("n", ">", 50)])) == [(7, 100)]
    assert storage.bytes_of(lambda: table.snapshot(where=[("n", ">", 50)])) < storage.total


@pytest.mark.usefixtures("small")
def test_a_log_without_matches_deletes_a_row_that_matches() -> None:
    table, _ = table_in_memory(SCHEMA)
    table.upsert(rows(*((key, 1, 100) for key in range(6))))
    table.compact()
    table.upsert(rows((3, 2, 0)))
    table.delete(rows((4, 2, None)).select(["id", "ts"]))
    assert found(table.snapshot(where=[("n", ">", 50), ("id", ">", 2)])) == [(5, 100)]


@pytest.mark.usefixtures("small")
def test_the_columns_of_a_partial_update_match_together_with_those_of_the_base_file() -> None:
    table, _ = table_in_memory(SCHEMA, options={"nbcc.partial.update.mode": "SET_COLUMNS"})
    table.upsert(rows(*((key, 1, 0) for key in range(6)), s="old"))
    table.compact()
    table.upsert(rows((3, 2, 100)).select(["id", "ts", "n"]), columns=["n"])
    assert found(table.snapshot(where=[("n", ">", 50), ("s", "=", "old")])) == [(3, 100)]
    assert found(table.snapshot(where=[("id", "=", 3)])) == [(3, 100)]
    assert found(table.snapshot(where=[("id", "=", 9)])) == []


@pytest.mark.usefixtures("small")
def test_a_column_of_numbers_with_nan_is_not_skipped() -> None:
    table, _ = table_in_memory(SCHEMA)
    table.upsert(rows((1, 1, 0), f=1.0))
    table.upsert(rows((2, 1, 0), f=float("nan")))
    for _ in range(2):
        assert found(table.snapshot(where=~(pc.field("f") == 1.0))) == [(2, 0)]
        assert found(table.snapshot(where=[("f", ">", 0.5)])) == [(1, 0)]
        table.compact()


@pytest.mark.usefixtures("small")
def test_nulls_and_long_texts_are_found_in_logs_and_base_files() -> None:
    table, _ = table_in_memory(SCHEMA)
    long = "x" * 40 + "z"
    table.upsert(pa.concat_tables([rows((1, 1, None)), rows((2, 1, 5), s=long)]))
    for _ in range(2):
        assert found(table.snapshot(where=pc.field("n").is_null())) == [(1, None)]
        assert found(table.snapshot(where=pc.field("s").is_null())) == [(1, None)]
        assert found(table.snapshot(where=[("s", "=", long)])) == [(2, 5)]
        assert found(table.snapshot(where=[("s", "<", "x" * 40)])) == []
        table.compact()


@pytest.mark.usefixtures("small")
def test_a_window_returns_the_deletes_that_match() -> None:
    table, _ = table_in_memory(SCHEMA)
    before = table.upsert(rows((1, 1, 5), (2, 1, 5)))
    table.delete(rows((1, 2, None)).select(["id", "ts"]))
    for where in (pc.field("n").is_null(), [("id", "=", 1)], [("_hoodie_is_deleted", "=", True)]):
        assert found(table.incremental(before, where=where)) == [(1, None)]
    assert found(table.incremental(before, where=[("n", "=", 5)])) == []
    assert table.changes(before, where=[("n", "=", 5)])["op"].to_pylist() == ["d"]
    table.upsert(rows((2, 2, 6)))
    for n in (5, 6):
        assert sorted(table.changes(before, where=[("n", "=", n)])["op"].to_pylist()) == ["d", "u"][n - 5 :]


@pytest.mark.usefixtures("small")
def test_files_from_before_a_change_of_columns_are_compared_under_the_new_ones() -> None:
    table, _ = table_in_memory(SCHEMA)
    table.upsert(rows((1, 1, 2), (2, 1, 3)))
    table.compact()
    wider = SCHEMA.set(2, pa.field("n", pa.float64())).append(pa.field("late", pa.int32()))
    table.alter_schema(wider)
    assert found(table.snapshot(where=[("n", ">", 2.5)])) == [(2, 3.0)]
    assert found(table.snapshot(where=pc.field("late").is_null())) == [(1, 2.0), (2, 3.0)]
    assert found(table.snapshot(where=[("late", ">", 0)])) == []
    table.alter_schema(pa.schema([field for field in wider if field.name != "n"]))
    with pytest.raises(BadInput, match="read the columns n"):
        table.snapshot(where=[("n", ">", 2.5)])


@pytest.mark.usefixtures("small")
def test_the_default_partition_has_nulls() -> None:
    schema = pa.schema([*SCHEMA, ("part", pa.string())])
    table, _ = table_in_memory(schema, partition_by="part")
    for number, part in enumerate((None, "a")):
        table.upsert(pa.Table.from_pylist([{"id": number, "ts": 1, "n": number, "part": part}], schema))
    for _ in range(2):
        assert found(table.snapshot(where=pc.field("part").is_null())) == [(0, 0)]
        assert found(table.snapshot(where=[("part", ">", "")])) == [(1, 1)]
        table.compact()


def test_statistics_of_floats_count_only_in_files_that_omit_columns_with_nan() -> None:
    values = pa.table({"f": [1.0, float("nan")]})
    sink = pa.BufferOutputStream()
    pq.write_table(values, sink)  # its statistics are 1.0 to 1.0
    schema = pa.schema([("f", pa.float64())])
    assert ranges_of_groups(pq.read_metadata(pa.BufferReader(sink.getvalue())), values.schema, schema) == [{}]
    ours = pq.read_metadata(pa.BufferReader(parquet.encode_base_file(values.slice(0, 1))))
    one = pa.scalar(1.0)
    assert ranges_of_groups(ours, values.schema, schema) == [{"f": Range(one, one, nulls=False)}]


def test_statistics_of_a_column_that_was_text_do_not_bound_numbers() -> None:
    """Texts order "10" before "9". Statistics apply only if the cast to the table's type preserves the order."""
    metadata = pq.read_metadata(pa.BufferReader(parquet.encode_base_file(pa.table({"n": ["10", "9"]}))))
    schema = pa.schema([("n", pa.int64())])
    assert ranges_of_groups(metadata, pa.schema([("n", pa.string())]), schema) == [{}]


def test_base_files_have_statistics_a_page_index_and_row_groups_and_logs_have_ranges() -> None:
    columns = [pa.field(f"c{number}", pa.int32()) for number in range(40)]
    schema = pa.schema([("id", pa.int64()), ("ts", pa.int64()), *columns])
    table, storage = table_in_memory(schema)
    count = parquet.GROUP_ROWS + 1
    numbers = pa.array(np.arange(count))
    table.upsert(pa.table([numbers, numbers, *(pa.repeat(None, count).cast(c.type) for c in columns)], schema=schema))
    [log] = [path for path in storage.objects if ".log." in path and not path.startswith(".hoodie")]
    ranges = decode_ranges(load_commit(storage, table.timeline()[0]).extra[RANGES])[log]
    assert list(ranges) == sorted(schema.names[:32])
    assert (ranges["id"], ranges["c0"]) == ((0, count - 1, False), (None, None, True))
    table.compact()
    [base] = [path for path in storage.objects if path.endswith(".parquet")]
    metadata = pq.read_metadata(pa.BufferReader(storage.objects[base]))
    assert [metadata.row_group(number).num_rows for number in range(2)] == [parquet.GROUP_ROWS, 1]
    place = table.snapshot().schema.names.index("id")
    chunk = metadata.row_group(0).column(place)
    assert chunk.has_column_index
    assert chunk.has_offset_index
    assert (chunk.statistics.min, chunk.statistics.max) == (0, parquet.GROUP_ROWS - 1)


@given(text=st.text(max_size=9), length=st.integers(1, 4))
@settings(max_examples=60)
def test_a_bound_of_texts_is_not_less_than_the_text(text: str, length: int) -> None:
    bound = upper_bound(text, length)
    if bound is None:
        assert set(text[:length]) <= {"\U0010ffff"}
    else:
        assert len(bound) <= max(length, len(text) if len(text) <= length else 0)
        assert bound.encode() >= text.encode()


def test_ranges_survive_their_encoding_and_other_content_has_none() -> None:
    bounds: dict[str, dict[str, tuple[Any, Any, bool]]] = {
        "p/f": {"a": (1, 2, False), "b": (None, None, True)}, "g": {"a": (0, 0, True)},
    }
    assert decode_ranges(encode_ranges(bounds)) == bounds
    for text in ("", "[]", "{}", '{"columns": 1, "files": 2}', '{"columns": ["a"], "files": {"f": [[1]]}}'):
        assert decode_ranges(text) == {}
    assert LogRanges(bounds["g"], deletes=False).columns["a"] == (0, 0, True)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"0" * len(data)])
def test_a_file_of_another_size_or_content_is_damaged_also_if_parts_of_it_are_read(change: Any) -> None:
    table, storage = table_in_memory(SCHEMA)
    table.upsert(rows(*((key, 1, key) for key in range(60)), s="x" * 40))
    table.compact()
    [base] = [path for path in storage.objects if path.endswith(".parquet")]
    storage.objects[base] = change(storage.objects[base])
    with pytest.raises(Damaged, match=f"read {base}"):
        table.snapshot(where=[("n", ">", 3)])


# Bytes.


def bytes_by_format(table: Table, storage: RangedMemory, *filters: ds.Filter) -> tuple[int, int]:
    """The bytes of data files that the tasks of `format("nbcc")` request under pushed filters, and the rows."""
    planned = Table(dataclasses.replace(table.context, jobs=PlannedReads()), table.config)
    plan = plan_of(planned, ReadOptions(path="t"))
    reader = GroupReader(plan, to_spark(plan.schema))
    assert list(reader.pushFilters([*filters])) == []
    before = storage.data_bytes
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return storage.data_bytes - before, sum(map(len, batches))


def test_one_of_365_partitions_reads_at_most_a_hundredth_of_the_bytes() -> None:
    days = [date(2026, 1, 1) + timedelta(days) for days in range(365)]
    schema = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("day", pa.date32())])
    table, storage = table_in_memory(schema, partition_by="day")
    numbers = list(range(2 * len(days)))
    table.bulk_insert(pa.table([numbers, numbers, [*days, *days]], schema=schema))
    day = days[100]
    whole = storage.bytes_of(table.snapshot)
    assert storage.bytes_of(lambda: table.snapshot(where=[("day", "=", day)])) <= whole / 100
    assert storage.bytes_of(lambda: table.snapshot(partitions=["day=2026-04-11"])) <= whole / 100
    assert table.snapshot(where=[("day", "=", day)]).equals(table.snapshot(partitions=["day=2026-04-11"]))
    few = [("day", ">=", day), ("day", "<", days[102])]
    assert storage.bytes_of(lambda: table.snapshot(where=few)) <= whole / 100
    pushed = ds.GreaterThanOrEqual(("day",), day), ds.LessThan(("day",), days[102])
    size, count = bytes_by_format(table, storage, *pushed)
    assert count == 4
    assert 0 < size <= whole / 100


def test_a_range_of_a_clustered_column_reads_at_most_a_tenth_of_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((parquet, "_LEAST_GROUP_ROWS", 2048), (ranged_file, "TAIL_BYTES", 4096)):
        monkeypatch.setattr(module, name, value)
    table, storage = table_in_memory(SCHEMA)
    numbers = np.random.default_rng(7).permutation(ROWS)
    floats, texts = pa.array(numbers / 3), pa.array(numbers).cast(pa.string())
    table.upsert(pa.table([numbers, numbers, pa.array(numbers % 1000, pa.int32()), floats, texts], schema=SCHEMA))
    assert table.cluster(["n"]) is not None
    whole = storage.bytes_of(table.snapshot)
    where = [("n", ">=", 500), ("n", "<", 510)]
    assert len(table.snapshot(where=where)) == ROWS // 100
    assert storage.bytes_of(lambda: table.snapshot(where=where)) <= whole / 10
    size, count = bytes_by_format(table, storage, ds.GreaterThanOrEqual(("n",), 500), ds.LessThan(("n",), 510))
    assert count == ROWS // 100
    assert 0 < size <= whole / 10
    assert storage.bytes_of(lambda: table.snapshot(["n"])) <= whole / 4


# Messages.


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ([("idd", "=", 1)], r"read the columns idd, but there are .*: did you mean 'id'"),
        (pc.field("m") > 1, r"read where \(m > 1\), but No match for FieldRef.Name\(m\)"),
        ([("n", "=", "x")], "no kernel matching input types"),
        (pc.field("n") + 1, "must evaluate to bool"),
        ([("n", "=~", 1)], "there is no operator '=~': use one of =, =="),
        ([("n", "in", 1)], "its value does not fit"),
        (("n", "=", 1), "that is not a condition: give a pyarrow expression, or triples"),
        ([("n", 1)], "that is not a triple of column, operator and value"),
        ("n = 1", "that is not a condition"),
        ([], "that is not a condition"),
        (pc.scalar(True), "the condition names no column"),
    ],
)
def test_a_condition_that_cannot_be_evaluated_is_refused(where: Any, says: str) -> None:
    table, _ = table_in_memory(SCHEMA)
    with pytest.raises(BadInput, match=says):
        table.snapshot(where=where)


def test_a_path_that_is_not_a_partition_is_refused() -> None:
    schema = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("day", pa.date32())])
    table, _ = table_in_memory(schema, partition_by="day")
    with pytest.raises(BadInput, match=r"read the partition '2026-01-01', but .* by day: name a path, like"):
        table.snapshot(partitions=["2026-01-01"])
    assert len(table.snapshot(partitions=["day=2026-01-01"])) == 0
    plain, _ = table_in_memory(SCHEMA)
    with pytest.raises(BadInput, match="the table has no partitions: leave `partitions` out"):
        plain.snapshot(partitions=["a"])
