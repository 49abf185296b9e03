"""The digest of a batch: independent of order, chunks and representation, and sensitive to every value."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nbcc.engine.data.digest import Digest, digest_of

POINT = pa.struct([("x", pa.int64()), ("y", pa.string())])
KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, False, None]),
    "int": (pa.int32(), [0, 1, -1, 1 << 30, None]),
    "long": (pa.int64(), [0, 1, -1, 1 << 62, None]),
    "float": (pa.float32(), [0.0, 1.5, -1.5, None]),
    "double": (pa.float64(), [0.0, 1.5, float("inf"), float("nan"), None]),
    "date": (pa.date32(), [date(1969, 12, 31), date(2026, 1, 1), None]),
    "time": (pa.timestamp("us", "UTC"), [datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, 1, 1, 7, UTC)]),
    "decimal": (pa.decimal128(20, 2), [Decimal("0.00"), Decimal("-1.23"), Decimal("123456789012345678.90"), None]),
    "string": (pa.string(), ["", "a", "b", "ab", "12345678", "123456789", "x" * 1000, "é", None]),
    "binary": (pa.binary(), [b"", b"\0", b"\0\0", b"a", None]),
    "list": (pa.list_(pa.string()), [[], ["a"], ["a", "b"], ["b", "a"], ["ab"], [None], ["a", None], None]),
    "struct": (POINT, [{"x": 1, "y": "a"}, {"x": 1, "y": None}, {"x": None, "y": "a"}, {"x": None, "y": None}, None]),
    "map": (
        pa.map_(pa.string(), pa.int64()),
        [[], [("a", 1)], [("b", 1)], [("a", 1), ("b", 2)], [("a", 2), ("b", 1)], None],
    ),
    "deep": (pa.list_(POINT), [[], [{"x": 1, "y": "a"}], [{"x": 1, "y": "a"}, {"x": 2, "y": ""}], None]),
}  # fmt: skip


def column(kind: str, values: list[Any]) -> pa.Table:
    return pa.table({"v": pa.array(values, KINDS[kind][0])})


def everything(count: int = 200, seed: int = 1) -> pa.Table:
    draw = random.Random(seed)
    drawn = {name: [draw.choice(values) for _ in range(count)] for name, (_, values) in KINDS.items()}
    return pa.table({name: pa.array(values, KINDS[name][0]) for name, values in drawn.items()})


@pytest.mark.parametrize("kind", KINDS)
def test_each_value_has_a_digest_of_its_own(kind: str) -> None:
    values = KINDS[kind][1]
    assert len({digest_of(column(kind, [value])) for value in values}) == len(values)


@pytest.mark.parametrize("kind", KINDS)
def test_order_chunks_and_slices_change_nothing(kind: str) -> None:
    rows = column(kind, KINDS[kind][1] * 3)
    expected = digest_of(rows)
    other = list(range(len(rows)))
    random.Random(kind).shuffle(other)
    shuffled = rows.take(pa.array(other))
    assert digest_of(shuffled) == expected
    cut = [shuffled.slice(0, 2), shuffled.slice(2, 1), shuffled.slice(3)]
    assert digest_of(pa.concat_tables(cut)) == expected
    assert sum((digest_of(part) for part in cut), Digest()) == expected
    copies = [pa.concat_tables([part, part]).slice(len(part)) for part in cut]
    assert sum((digest_of(part) for part in copies), Digest()) == expected


def test_a_value_in_another_column_another_row_or_once_more_is_another_batch() -> None:
    one = pa.table({"a": ["x", "y"], "b": ["y", "x"]})
    others = [
        pa.table({"a": ["y", "x"], "b": ["y", "x"]}),
        pa.table({"a": ["x", "y"], "c": ["y", "x"]}),
        pa.table({"a": ["x", "y", "y"], "b": ["y", "x", "x"]}),
        one.slice(0, 1),
        one.slice(0, 0),
    ]
    assert len({digest_of(rows) for rows in (one, *others)}) == 6
    assert digest_of(one.select(["b", "a"])) == digest_of(one)


def test_every_nan_is_one_and_both_zeros_are() -> None:
    quiet, other = np.array([0x7FF8000000000000, 0xFFF8000000000123], np.uint64).view(np.float64)
    assert digest_of(pa.table({"v": np.array([quiet])})) == digest_of(pa.table({"v": np.array([other])}))
    assert digest_of(pa.table({"v": [0.0]})) == digest_of(pa.table({"v": [-0.0]}))


def test_what_lies_under_a_null_does_not_count() -> None:
    valid = pa.array([True, False]).buffers()[1]
    for kind, data in ((pa.int64(), np.array([1, 77])), (pa.float64(), np.array([1.0, 77.0]))):
        hidden = pa.Array.from_buffers(kind, 2, [valid, pa.py_buffer(data)])
        assert digest_of(pa.table({"v": hidden})) == digest_of(pa.table({"v": pa.array([1, None], kind)}))
    ends = pa.py_buffer(np.array([0, 1, 4], np.int32))
    text = pa.Array.from_buffers(pa.string(), 2, [valid, ends, pa.py_buffer(b"abcd")])
    assert digest_of(pa.table({"v": text})) == digest_of(pa.table({"v": ["a", None]}))
    lists = pa.ListArray.from_arrays(pa.array([0, None, 3]), pa.array([1, 2, 3]))
    assert digest_of(pa.table({"v": lists})) == digest_of(pa.table({"v": pa.array(lists.to_pylist(), lists.type)}))


def test_a_wider_type_a_dictionary_and_a_column_of_nulls_change_nothing() -> None:
    rows = pa.table({"n": pa.array([1, None], pa.int32()), "f": pa.array([0.1, None], pa.float32()), "s": ["a", None]})
    wide = rows.cast(pa.schema([("n", pa.int64()), ("f", pa.float64()), ("s", pa.string())]))
    wide = wide.set_column(2, "s", wide["s"].dictionary_encode())
    assert digest_of(wide.append_column("more", pa.nulls(2, pa.string()))) == digest_of(rows)


def test_the_flag_of_deletes_counts_where_it_is_true() -> None:
    rows = pa.table({"id": ["a"]})
    flags = [pa.array([flag], pa.bool_()) for flag in (True, False, None)]
    flagged = [digest_of(rows.append_column("_hoodie_is_deleted", flag)) for flag in flags]
    assert flagged[1:] == [digest_of(rows)] * 2
    assert flagged[0] != digest_of(rows)


def test_what_a_partial_update_sets_is_a_part_of_it() -> None:
    rows = pa.table({"id": ["a"], "x": pa.nulls(1, pa.string()), "y": pa.nulls(1, pa.string())})
    assert len({digest_of(rows, sets) for sets in (None, frozenset(), frozenset({"x"}), frozenset({"x", "y"}))}) == 3
    assert digest_of(rows, frozenset({"x", "y"})) == digest_of(rows, frozenset({"y", "x"}))


def test_the_form_in_a_commit_stays_the_same() -> None:
    """A release that hashes otherwise must record another version: else each batch of an older one is a conflict."""
    digest = digest_of(everything())
    assert digest.text == "1:200:418168085dda8996c0ca9cc69e9b3ce5"
    assert Digest.of_text(digest.text) == digest
    others = ("", "2:1:" + "0" * 32, "1:x:" + "0" * 32, "1:1:" + "z" * 32)
    assert [Digest.of_text(text) for text in others] == [None] * 4


def test_spark_has_the_same_digest(spark: Any) -> None:
    from nbcc.engine.data.keys import KeySpec
    from nbcc.engine.data.layers import MergeRule
    from nbcc.engine.data.tasks import TableShape
    from nbcc.engine.names import RandomNames
    from nbcc.engine.spark.jobs import SparkJobs

    rows = everything().append_column("id", pa.array([str(n) for n in range(200)]))
    none: Any = None
    shape = TableShape(rows.schema, KeySpec(("id",), (), True), MergeRule("COMMIT_TIME_ORDERING"), 1, "")
    frame = spark.createDataFrame(rows).repartition(3)
    assert SparkJobs(spark, none, RandomNames()).digest(frame, shape, None) == digest_of(rows)
