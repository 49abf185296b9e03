"""The columnar merge against twins that fold records one by one."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc.engine.data.codes import order_numbers
from nbcc.engine.data.columns import COMMIT_TIME, IS_DELETED, PARTITION_PATH, RECORD_KEY
from nbcc.engine.data.layers import (
    COMMIT_TIME_ORDERING,
    EVENT_TIME,
    Layer,
    Merged,
    MergeRule,
    delete_schema,
    is_ordering_type,
)
from nbcc.engine.data.merge import merge

TS = pa.field("ts", pa.int64())
ROWS = pa.schema([(RECORD_KEY, pa.string()), ("ts", pa.int64()), ("value", pa.int64())])
DELETES = delete_schema(TS)


class Record(NamedTuple):
    key: str
    ts: int | None  # None: a delete that always wins
    value: int | None  # None: a delete


File = list[Record]

keys = st.sampled_from("abc")
rows = st.builds(Record, keys, st.integers(-2, 2), st.integers(0, 10**6))
typed_deletes = st.builds(Record, keys, st.integers(-2, 2), st.none())
always_deletes = st.builds(Record, keys, st.none(), st.none())
own_files = st.lists(rows | typed_deletes, max_size=6)
hudi_files = st.lists(rows | typed_deletes | always_deletes, max_size=6)
modes = st.sampled_from([EVENT_TIME, COMMIT_TIME_ORDERING])


def layer(records: File, base: bool = False) -> Layer:
    kept = [record for record in records if record.value is not None]
    gone = [record for record in records if record.value is None]
    return Layer(
        pa.Table.from_pylist([{RECORD_KEY: r.key, "ts": r.ts, "value": r.value} for r in kept], schema=ROWS),
        pa.Table.from_pylist([{RECORD_KEY: r.key, "ts": r.ts} for r in gone], schema=DELETES),
        base,
    )


def in_order(files: list[File]) -> list[Record]:
    return [r for records in files for r in sorted(records, key=lambda record: record.value is None)]


def newer_wins(old: Record, new: Record, mode: str) -> bool:
    return mode == COMMIT_TIME_ORDERING or new.ts is None or old.ts is None or new.ts >= old.ts


def fold(records: list[Record], mode: str) -> dict[str, Record]:
    """Hudi's rule among logs, record by record."""
    kept: dict[str, Record] = {}
    for record in records:
        if record.key not in kept or newer_wins(kept[record.key], record, mode):
            kept[record.key] = record
    return kept


def outcome(merged: Merged) -> dict[str, Record]:
    found = [Record(row[RECORD_KEY], row["ts"], row["value"]) for row in merged.rows.to_pylist()]
    found += [Record(row[RECORD_KEY], row["ts"], None) for row in merged.deletes.to_pylist()]
    assert len({record.key for record in found}) == len(found)
    return {record.key: record for record in found}


@given(st.lists(own_files, max_size=5), modes)
def test_rank_takes_the_greatest(files: list[File], mode: str) -> None:
    expected: dict[str, tuple[tuple[int, int], Record]] = {}
    for number, record in enumerate(in_order(files)):
        rank = (record.ts or 0 if mode == EVENT_TIME else 0, number)
        expected[record.key] = max(expected.get(record.key, ((-9, -9), record)), (rank, record))
    merged = merge([layer(records) for records in files] or [layer([])], MergeRule(mode, "ts"))
    assert outcome(merged) == {key: record for key, (_, record) in expected.items()}


@given(st.lists(hudi_files, max_size=4), modes)
def test_always_winning_deletes_cut_what_came_before(files: list[File], mode: str) -> None:
    merged = merge([layer(records) for records in files] or [layer([])], MergeRule(mode, "ts"))
    assert outcome(merged) == fold(in_order(files), mode)


@given(st.lists(rows, max_size=3, unique_by=lambda record: record.key), st.lists(hudi_files, max_size=4), modes)
def test_logs_first_meets_the_base_once(base: File, files: list[File], mode: str) -> None:
    survivors = fold(in_order(files), mode)
    expected = fold([*base, *survivors.values()], mode)
    layers = [layer(base, base=True), *(layer(records) for records in files)]
    assert outcome(merge(layers, MergeRule(mode, "ts", "logs_first"))) == expected


def test_the_two_folds_differ_where_hudi_does() -> None:
    """base(ts 5), delete that always wins, insert(ts 1): docs/hudi-format.md answers the base row."""
    base, delete, insert = Record("a", 5, 50), Record("a", None, None), Record("a", 1, 10)
    layers = [layer([base], base=True), layer([delete]), layer([insert])]
    assert outcome(merge(layers, MergeRule(EVENT_TIME, "ts", "logs_first"))) == {"a": base}
    assert outcome(merge(layers, MergeRule(EVENT_TIME, "ts", "rank"))) == {"a": insert}


@settings(max_examples=50)
@given(st.lists(own_files, max_size=5), st.integers(0, 5), modes)
def test_a_compaction_in_between_changes_nothing(files: list[File], compacted: int, mode: str) -> None:
    """Rows and tombstones of a merge, put in place of the files merged, give the same answer."""
    rule = MergeRule(mode, "ts")
    layers = [layer(records) for records in files] or [layer([])]
    base = merge(layers[:compacted] or [layer([])], rule)
    tombstones = base.deletes if mode == EVENT_TIME else base.deletes.slice(0, 0)
    after = merge([Layer(base.rows, tombstones, True), *layers[compacted:]], rule)
    assert after.rows.sort_by(RECORD_KEY).equals(merge(layers, rule).rows.sort_by(RECORD_KEY))


def test_without_ordering_column_the_later_wins() -> None:
    ordered = [layer([Record("a", 9, 1)]), layer([Record("a", 1, 2)])]
    plain = [Layer(one.rows, one.deletes.select(delete_schema(None).names)) for one in ordered]
    assert outcome_values(merge(plain, MergeRule(EVENT_TIME, None))) == {"a": 2}


def test_flagged_rows_are_deletes() -> None:
    flagged = layer([Record("a", 2, 1), Record("b", 1, 1)])
    flags = flagged.rows.append_column(IS_DELETED, pa.array([True, None])).append_column(
        COMMIT_TIME, pa.array(["t", "t"])
    )
    full = flags.append_column(PARTITION_PATH, pa.array(["", ""]))
    merged = merge([Layer(full, flagged.deletes)], MergeRule(EVENT_TIME, "ts"))
    assert merged.rows[RECORD_KEY].to_pylist() == ["b"]
    assert merged.deletes.to_pylist() == [{COMMIT_TIME: "t", RECORD_KEY: "a", PARTITION_PATH: "", "ts": 2}]


def outcome_values(merged: Merged) -> dict[str, int]:
    return {row[RECORD_KEY]: row["value"] for row in merged.rows.to_pylist()}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int32(), [3, -1, None, 3]),
        (pa.int64(), [2**62, -(2**62), None, 0]),
        (pa.date32(), [datetime.date(2026, 1, 1), datetime.date(1900, 1, 1), None, datetime.date(1970, 1, 1)]),
        (pa.timestamp("us", "UTC"), [datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), None]),
        (pa.string(), ["b", "a", None, "é", "", "b"]),
        (pa.decimal128(10, 2), [Decimal("1.10"), Decimal("-3"), None, Decimal("1.1")]),
    ],
)
def test_order_numbers_follow_the_values(kind: pa.DataType, values: list[object]) -> None:
    numbers = order_numbers([pa.chunked_array([values[:2], values[2:]], kind)])
    lowest = min(value for value in values if value is not None)  # type: ignore[type-var]
    ranked = [(value is not None, value if value is not None else lowest) for value in values]
    for left, one in zip(ranked, numbers, strict=True):
        for right, other in zip(ranked, numbers, strict=True):
            assert (left < right) == (one < other)


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        (pa.int64(), True),
        (pa.string(), True),
        (pa.timestamp("us", "UTC"), True),
        (pa.timestamp("us"), False),
        (pa.float64(), False),
        (pa.bool_(), False),
        (pa.list_(pa.int64()), False),
    ],
)
def test_ordering_types(kind: pa.DataType, allowed: bool) -> None:
    assert is_ordering_type(kind) is allowed
