"""What a batch must satisfy, rule by rule, and the comparison of contents under it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nbcc.engine.data.check import RULES, conflicting, problems, refuse
from nbcc.engine.data.compare import values_differ
from nbcc.engine.errors import BadInput
from tests.builders.tasks import SCHEMA, rows_and_deletes, shape

_NUMBERS = pa.list_(pa.field("element", pa.struct([pa.field("n", pa.int32(), False)])))


def needing(kind: pa.DataType, nullable: bool = True) -> Any:
    """The shape of a table whose column `value` is of that type."""
    fields = [pa.field("value", kind, nullable) if field.name == "value" else field for field in SCHEMA]
    return shape(schema=pa.schema(fields))


def holding(*values: Any, kind: pa.DataType) -> pa.Table:
    """Rows with these values in the column `value`; None makes no delete here."""
    rows = rows_and_deletes(*((f"k{place}", 1, "x") for place in range(len(values))))
    return rows.set_column(2, "value", pa.array(values, kind))


def _loose(kind: pa.DataType) -> pa.DataType:
    """The type with nulls allowed everywhere, as a batch may have it."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(inner.name, _loose(inner.type)) for inner in kind])
    if pa.types.is_map(kind):
        return pa.map_(pa.string(), _loose(kind.item_type))
    return pa.list_(_loose(kind.value_type)) if pa.types.is_list(kind) else kind


BROKEN = [
    ("null key", shape(), rows_and_deletes((None, 1, "x"), ("a", 1, "x"))),
    ("empty key", shape(), rows_and_deletes(("", 1, "x"))),
    ("ambiguous key", shape(), rows_and_deletes(("a:1,b", 1, "x"))),
    ("ambiguous key", shape(), rows_and_deletes(("x,y:z", 1, "x"))),
    ("ambiguous key", shape(), rows_and_deletes(("__null__", 1, "x"))),
    ("ambiguous key", shape(record_key=("id", "ts")), rows_and_deletes(("a,", 1, "x"))),
    ("ambiguous key", shape(record_key=("id", "ts")), rows_and_deletes(("a:", 1, "x"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "../b"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "a//b"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", ""))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "k=v"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", ".hoodie"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "a\nb"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "a\0b"))),
    ("unsafe partition", shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "a/" + "é" * 128))),
    ("unsafe partition", shape(partition_by=("part", "value")), rows_and_deletes(("a", 1, "x", "a/b"))),
    ("null ordering", shape(), rows_and_deletes(("a", None, "x"))),
    ("null ordering", shape(), rows_and_deletes(("a", None, None))),
    ("unordered text", shape(ordering="value"), rows_and_deletes(("a", 1, "😀"))),
    *(
        ("missing value", needing(kind, nullable), holding(*values, kind=_loose(kind)))
        for kind, nullable, values in (
            (pa.string(), False, ["x", None]),
            (pa.list_(pa.field("element", pa.string(), False)), True, [None, [], ["x"], ["x", None]]),
            (pa.struct([pa.field("n", pa.int32(), False)]), True, [None, {"n": 1}, {"n": None}]),
            (pa.map_(pa.string(), pa.field("value", pa.int32(), False)), True, [None, [("a", 1), ("b", None)]]),
            (_NUMBERS, True, [None, [None], [{"n": 1}, {"n": None}]]),
        )
    ),
    ("conflicting rows", shape(), rows_and_deletes(("a", 1, "x"), ("a", 1, "y"))),
    ("conflicting rows", shape(), rows_and_deletes(("a", 1, "x"), ("a", 1, None))),
    ("conflicting rows", shape(), rows_and_deletes(("a", 2, "z"), ("a", 1, "x"), ("a", 1, "y"))),
    ("conflicting rows", shape(ordering=None), rows_and_deletes(("a", 1, "x"), ("a", 2, "x"))),
]

SOUND = [
    (needing(pa.string(), False), rows_and_deletes(("a", 1, "x"), ("b", 1, None))),
    (needing(_NUMBERS), holding(None, [], [None, {"n": 1}], kind=_loose(_NUMBERS))),
    (shape(), rows_and_deletes(("a", 1, "x"), ("a", 1, "x"), ("a", 2, "y"))),
    (shape(), rows_and_deletes(("a", 1, None), ("a", 1, None))),
    (shape(), rows_and_deletes(("a:b", 1, "x"), ("a,b", 1, "x"), ("é", 1, None))),
    (shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", "p"), ("a", 1, "y", "q"))),
    (shape(partition_by=("part",)), rows_and_deletes(("a", 1, "x", None), ("b", 1, "x", "2026/11/21"))),
    (
        shape(partition_by=("part",)),
        rows_and_deletes(("a", 1, "x", "é" * 127 + "/" + "é" * 127), ("b", 1, "x", "#%?* ")),
    ),
    (shape(record_key=("id", "ts")), rows_and_deletes(("", 1, "x"), ("b c", 1, "x"))),
    (shape(ordering=None), rows_and_deletes(("a", 1, "x"), ("b", 1, "x"))),
]


@pytest.mark.parametrize(("rule", "of", "rows"), BROKEN)
def test_broken_rule_is_named(rule: str, of: object, rows: pa.Table) -> None:
    assert [problem.rule for problem in problems(rows, of)] == [rule]  # type: ignore[arg-type]


def test_every_rule_is_broken_above() -> None:
    elsewhere = {"delete in a bulk insert", "unknown key", "key of another partition"}  # tests of bulk inserts, indexes
    assert {rule for rule, _, _ in BROKEN} | elsewhere == set(RULES)


def test_a_delete_breaks_a_rule_where_there_must_be_none() -> None:
    rows = rows_and_deletes(("a", 1, "x"), ("b", 1, "x")).drop_columns("_hoodie_is_deleted")
    rows = rows.append_column("_hoodie_is_deleted", [[True, None]])
    assert problems(rows, shape()) == []
    (found,) = problems(rows, shape(), deletes=False)
    assert (found.rule, found.rows) == ("delete in a bulk insert", 1)


@pytest.mark.parametrize(("of", "rows"), SOUND)
def test_sound_batches_pass(of: object, rows: pa.Table) -> None:
    assert problems(rows, of) == []  # type: ignore[arg-type]


def test_two_deletes_differ_in_nothing_that_counts() -> None:
    deletes = rows_and_deletes(("a", 1, None), ("a", 1, None)).set_column(2, "value", pa.array(["x", "y"]))
    assert not conflicting(deletes, shape()).any()


def test_a_row_and_its_delete_conflict_though_their_columns_agree() -> None:
    twice = rows_and_deletes(("a", 1, "x"), ("a", 1, None)).set_column(2, "value", pa.array(["x", "x"]))
    assert conflicting(twice, shape()).tolist() == [False, True]


def test_message_says_what_to_do() -> None:
    found = problems(rows_and_deletes(("a", 1, "x"), ("a", 1, "y"), ("a", 1, "z")), shape())
    with pytest.raises(BadInput) as refused:
        refuse([*found, *found], shape())
    assert str(refused.value) == (
        "Asked to write a batch, but 4 rows share key and ordering value with another row of the batch but differ in "
        "content (for example id='a', ts=1): keep one of them."
    )


def test_nothing_found_nothing_refused() -> None:
    refuse([], shape())


NESTED = pa.map_(pa.string(), pa.list_(pa.struct([("n", pa.float64()), ("t", pa.string())])))
VALUES: list[Any] = [
    None,
    [],
    [("a", None)],
    [("a", [])],
    [("b", [])],
    [("a", [None])],
    [("a", [{"n": 1.0, "t": "x"}])],
    [("a", [{"n": float("nan"), "t": None}])],
    [("a", [{"n": None, "t": None}])],
    [("a", [{"n": 1.0, "t": "x"}]), ("b", [])],
]


@pytest.mark.parametrize("skipped", [0, 7])
def test_nested_values_are_compared_to_the_bottom(skipped: int) -> None:
    pairs = list(itertools.product(range(len(VALUES)), repeat=2))
    left, right = (pa.array([VALUES[pair[side]] for pair in pairs], NESTED).slice(skipped) for side in (0, 1))
    expected = [one != other for one, other in pairs][skipped:]
    assert values_differ(left, right).tolist() == expected


def test_conflicts_ask_every_column() -> None:
    rows = rows_and_deletes(("a", 1, "x"), ("a", 1, "x"))
    for name in ("value", "part"):
        place = SCHEMA.get_field_index(name)
        changed = rows.set_column(place, name, pa.array(["one", None], pa.string()))
        assert conflicting(changed, shape()).tolist() == [False, True]
    assert conflicting(rows, shape()).dtype == np.bool_
