"""Rows of several writes: what a fold shows column by column, and how it reads where a row has one rank."""

from __future__ import annotations

import pytest

from nbcc.model import Record, World
from nbcc.model.kernel.merge import Fold, Merger
from nbcc.model.mechanisms.partial_updates import ByColumns, Made
from nbcc.model.promises.oracle import Row
from nbcc.model.promises.valuations import of_merger

A, B, C = (1, 1), (2, 1), (3, 1)
BY_COLUMN, BY_ROW = ByColumns(("a", "b")), ByColumns(("a", "b"), "by_row")
MERGER = Merger(True, True, combination=BY_COLUMN)
LATE = {A: Row(1, False, ("a", "b")), B: Row(3, False, ("a",)), C: Row(2, False, ("b",))}
"""All columns at 1, a at 3, then b at 2: above the old b, below the row."""


IN_LOGS, IN_BASE = Fold(None, (A, B, C)), Fold(Fold(None, (A, B)), (C,))


@pytest.mark.parametrize("shape", [IN_LOGS, IN_BASE, Fold(None, (Fold(None, (A, B)), C))])
def test_a_late_column_counts_after_any_compaction(shape: Fold) -> None:
    right = Made((("", B), ("a", B), ("b", C)))
    assert BY_COLUMN.by_definition((A, B, C), LATE, MERGER, deletes=False) == right
    assert BY_COLUMN.read(shape, LATE.get, MERGER, deletes=False) == right
    assert BY_ROW.read(shape, LATE.get, MERGER, deletes=False) == Made((("", B), ("a", B), ("b", A)))


def test_a_base_file_of_rows_alone_forgets_it_and_a_log_does_not() -> None:
    in_base = BY_COLUMN._replace(column_merge="by_row_in_base")
    shown = [in_base.read(shape, LATE.get, MERGER, deletes=False) for shape in (IN_LOGS, IN_BASE)]
    assert [dict(made.columns)["b"] for made in shown if made] == [C, A]


def test_what_is_below_a_delete_never_shows_again() -> None:
    rows = {A: Row(1, False, ("a",)), B: Row(2, True), C: Row(3, False, ("b",))}
    shape = Fold(Fold(None, (B,)), (C, A))
    assert BY_COLUMN.read(shape, rows.get, MERGER, deletes=True) == Made((("", C), ("b", C)), delete=B)
    assert BY_ROW.read(shape, rows.get, MERGER, deletes=False) == Made((("", C), ("a", A), ("b", C)))
    assert BY_COLUMN.read(Fold(None, (B,)), rows.get, MERGER, deletes=False) is None


def test_a_window_has_a_record_for_each_ordering_value_and_a_snapshot_one_row() -> None:
    records = {log: Record(row.ordering, f"w{log[0]}", sets=row.sets) for log, row in LATE.items()}
    made = Made((("", B), ("a", B), ("b", C)))
    assert list(BY_COLUMN.records_of(made, records.__getitem__, window=True)) == [
        Record(3, "a:w2", requested=2), Record(2, "b:w3", requested=3)
    ]  # fmt: skip
    assert list(BY_COLUMN.records_of(made, records.__getitem__, window=False)) == [Record(3, "a:w2 b:w3", requested=2)]


def test_valuations_set_one_column_or_all() -> None:
    kinds = {(row.deleted, row.sets) for rows in of_merger(2, MERGER) for row in rows.values()}
    assert kinds == {(True, ()), (False, ("a",)), (False, ("b",)), (False, ("a", "b"))}


def test_a_copy_on_write_table_has_no_columns_of_its_own() -> None:
    with pytest.raises(ValueError, match="partial updates are merged in log files"):
        World(actors={"writer": 1}, table_type="COPY_ON_WRITE", columns=2)
