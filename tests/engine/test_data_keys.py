"""Record keys and partition paths, column by column, and back."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from nbcc.engine.data.bucket import buckets_of
from nbcc.engine.data.columns import PARTITION_PATH, RECORD_KEY
from nbcc.engine.data.keys import KeySpec, hashed_values, key_columns, partition_paths, record_keys

ROWS = pa.table(
    {
        "a": pa.array(["x", "k1", ""]),
        "n": pa.array([7, -1, 0], pa.int64()),
        "day": pa.array([datetime.date(2026, 11, 21), None, datetime.date(1969, 12, 31)]),
    }
)


@pytest.mark.parametrize(
    ("spec", "keys", "paths"),
    [
        (KeySpec(("a",)), ["x", "k1", ""], ["", "", ""]),
        (KeySpec(("n",)), ["7", "-1", "0"], ["", "", ""]),
        (KeySpec(("a", "n")), ["a:x,n:7", "a:k1,n:-1", "a:__empty__,n:0"], ["", "", ""]),
        (KeySpec(("n",), ("day",)), ["7", "-1", "0"], ["2026-11-21", "__HIVE_DEFAULT_PARTITION__", "1969-12-31"]),
        (
            KeySpec(("n",), ("a", "day"), hive_style=True),
            ["n:7", "n:-1", "n:0"],
            [
                "a=x/day=2026-11-21",
                "a=k1/day=__HIVE_DEFAULT_PARTITION__",
                "a=__HIVE_DEFAULT_PARTITION__/day=1969-12-31",
            ],
        ),
    ],
)
def test_spelling(spec: KeySpec, keys: list[str], paths: list[str]) -> None:
    assert record_keys(ROWS, spec).to_pylist() == keys
    assert partition_paths(ROWS, spec).to_pylist() == paths


@pytest.mark.parametrize("hive_style", [False, True])
@pytest.mark.parametrize(("record_key", "partition_by"), [(("a",), ("day",)), (("a", "n"), ("day",)), (("n",), ())])
def test_deletes_get_their_columns_back(
    record_key: tuple[str, ...], partition_by: tuple[str, ...], hive_style: bool
) -> None:
    spec = KeySpec(record_key, partition_by, hive_style)
    deletes = pa.table({RECORD_KEY: record_keys(ROWS, spec), PARTITION_PATH: partition_paths(ROWS, spec)})
    columns = key_columns(deletes, spec, ROWS.schema)
    assert {name: column.to_pylist() for name, column in columns.items()} == {
        name: ROWS[name].to_pylist() for name in spec.fields
    }


def test_a_null_in_a_composite_key_is_spelled_and_hashes_as_nothing() -> None:
    """As in foreign tables; our own writes refuse it."""
    rows, spec = pa.table({"a": [None, "x"], "n": pa.array([None, 1], pa.int64())}), KeySpec(("a", "n"))
    keys = record_keys(rows, spec)
    assert keys.to_pylist() == ["a:__null__,n:__null__", "a:x,n:1"]
    back = key_columns(pa.table({RECORD_KEY: keys}), spec, rows.schema)
    assert {name: column.to_pylist() for name, column in back.items()} == rows.to_pydict()
    assert buckets_of(hashed_values(rows, spec), 256).tolist()[0] == 31 * 31 % 256


def test_what_is_hashed() -> None:
    single, composite = KeySpec(("n",)), KeySpec(("a", "n"))
    assert [values.to_pylist() for values in hashed_values(ROWS, single)] == [["7", "-1", "0"]]
    assert [values.to_pylist() for values in hashed_values(ROWS, composite)] == [["x", "k1", ""], ["7", "-1", "0"]]
    named = KeySpec(("a",), ("n", "day"))  # the whole of "a:x", as version 9 spells it
    assert hashed_values(ROWS, named)[0].to_pylist() == ["a:x", "a:k1", "a:__empty__"]
    two = pa.table({"a": ["k1"], "b": ["k2"]})
    assert buckets_of(hashed_values(two, KeySpec(("a", "b"))), 256).tolist() == [130]
