"""Rows of several writes: what a fold shows column by column, and how it reads where a row has one rank."""

from __future__ import annotations

import pytest
from nbcc.model.merging.columns import by_definition, read, records_of
from nbcc.model.merging.record import Rule

from nbcc.model import Record, World
from nbcc.model.kernel.merge import Fold
from nbcc.model.mechanisms.partial_updates.columns import Made
from nbcc.model.promises.oracle import Row
from nbcc.model.promises.valuations import of_rule

A, B, C = (1, 1), (2, 1), (3, 1)
RULE = Rule(True, True, "rank", ("a", "b"))
BY_ROW = RULE._replace(column_merge="by_row")
LATE = {A: Row(1, False, ("a", "b")), B: Row(3, False, ("a",)), C: Row(2, False, ("b",))}
"""All columns at 1, a at 3, then b at 2: above the old b, below the row."""


IN_LOGS, IN_BASE = Fold(None, (A, B, C)), Fold(Fold(None, (A, B)), (C,))


@pytest.mark.parametrize("shape", [IN_LOGS, IN_BASE, Fold(None, (Fold(None, (A, B)), C))])
def test_a_late_column_counts_whatever_was_compacted_before(shape: Fold) -> None:
    right = Made((("", B), ("a", B), ("b", C)))
    assert read(shape, LATE.get, RULE, deletes=False) == right == by_definition((A, B, C), LATE, RULE, deletes=False)
    assert read(shape, LATE.get, BY_ROW, deletes=False) == Made((("", B), ("a", B), ("b", A)))


def test_a_base_file_of_rows_alone_forgets_it_and_a_log_does_not() -> None:
    rule = RULE._replace(column_merge="by_row_in_base")
    shown = [read(shape, LATE.get, rule, deletes=False) for shape in (IN_LOGS, IN_BASE)]
    assert [dict(made.columns)["b"] for made in shown if made] == [C, A]


def test_what_is_below_a_delete_never_shows_again() -> None:
    rows = {A: Row(1, False, ("a",)), B: Row(2, True), C: Row(3, False, ("b",))}
    shape = Fold(Fold(None, (B,)), (C, A))
    assert read(shape, rows.get, RULE, deletes=True) == Made((("", C), ("b", C)), delete=B)
    assert read(shape, rows.get, BY_ROW, deletes=False) == Made((("", C), ("a", A), ("b", C)))
    assert read(Fold(None, (B,)), rows.get, RULE, deletes=False) is None


def test_a_window_has_a_record_for_each_ordering_value_and_a_snapshot_one_row() -> None:
    records = {log: Record(row.ordering, f"w{log[0]}", sets=row.sets) for log, row in LATE.items()}
    made = Made((("", B), ("a", B), ("b", C)))
    assert list(records_of(made, records.__getitem__, window=True)) == [
        Record(3, "a:w2", requested=2), Record(2, "b:w3", requested=3)
    ]  # fmt: skip
    assert list(records_of(made, records.__getitem__, window=False)) == [Record(3, "a:w2 b:w3", requested=2)]


def test_valuations_set_one_column_or_all() -> None:
    kinds = {(row.deleted, row.sets) for rows in of_rule(2, RULE) for row in rows.values()}
    assert kinds == {(True, ()), (False, ("a",)), (False, ("b",)), (False, ("a", "b"))}


def test_a_copy_on_write_table_has_no_columns_of_its_own() -> None:
    with pytest.raises(ValueError, match="partial updates are merged in log files"):
        World(actors={"writer": 1}, table_type="COPY_ON_WRITE", columns=2)
