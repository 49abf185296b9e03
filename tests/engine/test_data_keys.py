"""Record keys and partition paths, column by column, and back; the bucket hash, with Hudi's own values."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.data.bucket import buckets_of, list_hash, string_hash
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


GOLDEN = [  # docs/hudi-format.md: values, list hash, and the bucket of 4, 8 and 256
    (["a"], 128, 0, 0, 128),
    (["id1"], 104085, 1, 5, 149),
    (["user_001"], -266209316, 0, 4, 220),
    (["k1", "k2"], 108674, 2, 2, 130),
    ([""], 31, 3, 7, 31),
    ([None], 31, 3, 7, 31),
    (["é"], 264, 0, 0, 8),
    (["😀"], 1772930, 2, 2, 130),
    (["20260101"], -1920486429, 3, 3, 227),
    (["334e26e9-8355-45cc-97c6-c31daf0df330"], 1880221155, 3, 3, 227),
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def java_hash(text: str) -> int:
    value = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


@pytest.mark.parametrize(("values", "signed", "of_4", "of_8", "of_256"), GOLDEN)
def test_values_of_apache_hudi(values: list[str | None], signed: int, of_4: int, of_8: int, of_256: int) -> None:
    columns = [pa.array([value], pa.string()) for value in values]
    assert list_hash(columns).tolist() == [signed & 0xFFFFFFFF]
    assert [buckets_of(columns, count)[0] for count in (4, 8, 256)] == [of_4, of_8, of_256]


@given(st.lists(st.none() | texts, max_size=20), st.integers(0, 3))
def test_vectorised_hash_is_the_scalar_one(strings: list[str | None], skipped: int) -> None:
    rows = pa.array(strings, pa.string()).slice(skipped)
    assert string_hash(rows).tolist() == [0 if text is None else java_hash(text) for text in strings[skipped:]]


@given(st.lists(st.lists(texts, max_size=3), max_size=4))
def test_chunks_make_no_difference(chunks: list[list[str]]) -> None:
    column = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    assert string_hash(column).tolist() == [java_hash(text) for chunk in chunks for text in chunk]
