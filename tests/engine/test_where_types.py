"""Conditions on columns of every type, with extreme and odd values: `where=` returns the rows of a read without a
condition that pyarrow's filter, or Python, selects. Nothing but `BadInput` is raised.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc import BadInput, Table
from nbcc.engine import parquet
from nbcc.engine.data import ranged_file
from nbcc.engine.data.predicate import Predicate
from nbcc.engine.reads.whole_numbers import compared, inside

from .where_tables import table_in_memory

INF, NAN = float("inf"), float("nan")
TIMES = [datetime(year, 1, 1, tzinfo=UTC) for year in (1, 1970, 9999)]
LONG = [text * 40 for text in ("x", "é", "日本", "\U0010ffff")]
FLOATS = [0.0, -0.0, 1.5, -1.5, INF, -INF]
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "flag": (pa.bool_(), [True, False]),
    "small": (pa.int32(), [0, -1, 5, 20_000_001, 2**31 - 1, -(2**31)]),
    "large": (pa.int64(), [0, -1, 5, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "single": (pa.float32(), [*FLOATS, NAN, 2.0**-149, 3.4028234663852886e38]),
    "double": (pa.float64(), [*FLOATS, NAN, 5e-324, 1.7976931348623157e308]),
    "text": (pa.string(), ["", "a", "\x00", "0", "-0", *LONG, LONG[0] + "z"]),
    "bytes": (pa.binary(), [b"", b"a", b"\xff\xfe"]),
    "day": (pa.date32(), [date.min, date(1970, 1, 1), date.max]),
    "micros": (pa.timestamp("us", "UTC"), TIMES),
    "millis": (pa.timestamp("ms", "UTC"), TIMES),
    "amount": (pa.decimal128(10, 2), [Decimal("0.00"), Decimal("-0.01"), Decimal("99999999.99")]),
}
SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.int64()), *((name, kind) for name, (kind, _) in COLUMNS.items())])
NUMBERS = [*FLOATS, NAN, 0, 7, 0.5, 2**31, 2**70, -(2**70), 2.0**63, -(2.0**63), 1e300]
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    monkeypatch.setattr(ranged_file, "WHOLE_BYTES", 0)
    monkeypatch.setattr(ranged_file, "TAIL_BYTES", 1 << 9)


def written(name: str, values: list[Any], form: str) -> Table:
    """A table with one row for each value of a column. Each log, and each row group, has two of the rows."""
    table, _ = table_in_memory(SCHEMA, options={"hoodie.logfile.data.block.format": form})
    for first in range(0, len(values), 2):
        listed = [{"id": key, "ts": 1, name: values[key]} for key in range(first, min(first + 2, len(values)))]
        table.upsert(pa.Table.from_pylist(listed, SCHEMA))
    return table


def expressions(name: str) -> st.SearchStrategy[pc.Expression]:
    column, (kind, values) = pc.field(name), COLUMNS[name]
    literals = st.sampled_from([*values, *NUMBERS]) if pa.types.is_integer(kind) else st.sampled_from(values)
    plain = st.builds(lambda compare, value: made(lambda: compare(column, value)),
                      st.sampled_from(list(COMPARE.values())), literals)  # fmt: skip
    lists = st.lists(st.none() | st.sampled_from(values), max_size=3)
    odd = [column.cast("string") == text for text in ("0", "-0", "5")]
    if kind in (pa.int32(), pa.int64(), pa.float32(), pa.float64()):
        odd += [column + 1 > 1, pc.divide(pc.scalar(1.0), column) > 0]
    forms = plain | lists.map(lambda each: column.isin(pa.array(each, kind)))
    forms |= st.sampled_from([column.is_null(), column.is_valid(), column.is_null(nan_is_null=kind == pa.float64())])
    forms |= st.sampled_from(odd)
    return st.one_of(forms, forms.map(lambda each: ~each), st.tuples(forms, forms).map(lambda two: two[0] | two[1]))


def made(make: Callable[[], pc.Expression]) -> pc.Expression:
    """An expression; one that selects nulls if pyarrow has none, as for numbers beyond 64 bits."""
    try:
        return make()
    except (OverflowError, pa.ArrowException):
        return pc.field("id").is_null()


def keys(answer: pa.Table) -> list[int]:
    return sorted(answer["id"].to_pylist())


def columns_and(make: Callable[[str], st.SearchStrategy[Any]]) -> st.SearchStrategy[tuple[str, list[Any], Any]]:
    return st.sampled_from([*COLUMNS]).flatmap(
        lambda name: st.tuples(
            st.just(name), st.lists(st.none() | st.sampled_from(COLUMNS[name][1]), min_size=1, max_size=5), make(name)
        )
    )


@given(case=columns_and(expressions), form=st.sampled_from(["parquet", "avro"]), is_compacted=st.booleans())
@settings(deadline=None, max_examples=150)
def test_where_selects_what_pyarrow_selects(case: Any, form: str, is_compacted: bool) -> None:
    name, values, where = case
    table = written(name, values, form)
    if is_compacted:
        table.compact()
    try:
        expected = keys(table.snapshot().filter(where))
    except pa.ArrowException:
        expected = None  # pyarrow fails for a row, which a read may skip
    try:
        answer = keys(table.snapshot(where=where))
    except BadInput:
        assert expected is None
    else:
        assert expected is None or answer == expected


@given(
    values=st.lists(st.none() | st.sampled_from(COLUMNS["large"][1]), min_size=1, max_size=5),
    name=st.sampled_from(["small", "large"]),
    chosen=st.sampled_from([*COMPARE]),
    value=st.sampled_from(NUMBERS),
)
@settings(deadline=None, max_examples=100)
def test_a_triple_compares_whole_numbers_with_any_number(
    values: list[int | None], name: str, chosen: str, value: float
) -> None:
    values = [each for each in values if each is None or name == "large" or abs(each) < 2**31]
    rows = pa.table({name: pa.array(values, COLUMNS[name][0])})
    where = compared(pc.field(name), f"__{COMPARE[chosen].__name__}__", value, COLUMNS[name][0])
    mask = Predicate(where, rows.schema).mask(rows).to_pylist()
    assert mask == [each is not None and COMPARE[chosen](each, value) for each in values]
    within = inside(pc.field(name), [value, 5], COLUMNS[name][0])
    assert Predicate(within, rows.schema).mask(rows).to_pylist() == [each in (value, 5) for each in values]


@pytest.mark.parametrize("is_compacted", [False, True])
def test_zeros_of_either_sign_are_found(is_compacted: bool) -> None:
    for values in ([0.0], [-0.0], [0.0, -0.0], [-0.0, 5.0], [0.0, None]):
        table = written("double", values, "parquet")
        if is_compacted:
            table.compact()
        for zero in (0.0, -0.0):
            rows, within = table.snapshot(), pc.field("double").isin([zero])  # Arrow's list distinguishes -0.0 from 0.0
            assert keys(table.snapshot(where=[("double", "in", [zero])])) == keys(rows.filter(within))
            zeros = [key for key, value in enumerate(values) if value == 0]
            assert keys(table.snapshot(where=[("double", "=", zero)])) == zeros


@pytest.mark.parametrize("where", [[("small", ">=", 0.5)], [("small", "in", [0.5, 20_000_001])]])
def test_an_integer_column_is_compared_with_a_floating_point_number(where: Any) -> None:
    table = written("small", [20_000_001, 0], "parquet")
    assert keys(table.snapshot(where=where)) == [0]
    table.compact()
    assert keys(table.snapshot(where=where)) == [0]


def test_rows_that_no_reader_sees_do_not_fail_a_condition() -> None:
    table = written("small", [20_000_001], "parquet")
    table.upsert(pa.Table.from_pylist([{"id": 0, "ts": 2, "small": 5}], SCHEMA))
    assert keys(table.snapshot(where=pc.field("small") >= 0.5)) == [0]
    table.upsert(pa.Table.from_pylist([{"id": 1, "ts": 2, "small": 20_000_001}], SCHEMA))
    with pytest.raises(BadInput, match=r"read where \(small >= 0.5\), but a row fails .*20000001.*: cast the column"):
        table.snapshot(where=pc.field("small") >= 0.5)


def test_a_condition_whose_text_pyarrow_cuts_inside_a_character_is_read() -> None:
    table = written("text", ["日本" * 30, "a"], "parquet")
    assert keys(table.snapshot(where=pc.field("text").isin(["日本" * 30]))) == [0]
    with pytest.raises(BadInput, match="read where the given expression"):
        table.snapshot(where=pc.field("texts").isin(["日本" * 30]))


def test_a_number_beyond_64_bits_is_compared_or_refused() -> None:
    table = written("large", [2**63 - 1], "parquet")
    assert keys(table.snapshot(where=[("large", "<", 2**70)])) == [0]
    with pytest.raises(BadInput, match="its value does not fit"):
        table.snapshot(where=[("double", "<", 2**70)])
