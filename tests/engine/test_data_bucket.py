"""The bucket hash: Hudi's own values, and a scalar twin over random text."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.data.bucket import buckets_of, list_hash, string_hash

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
