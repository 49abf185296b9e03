"""Rows of several writes: what a fold shows column by column, and what a user's merge function makes of one key."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Record, World
from nbcc.model.kernel.merge import Fold, Merger
from nbcc.model.mechanisms.merge_function import (
    FUNCTIONS,
    MergedRecords,
    by_definition,
    law_broken,
    merged_on,
    read,
    records_of,
    text_of,
)
from nbcc.model.mechanisms.partial_updates import ByColumns, Made
from nbcc.model.promises.oracle import Row
from nbcc.model.promises.valuations import of_merger
from nbcc.simulator.lockstep.systems.merge_functions import BY_LAWS

A, B, C = (1, 1), (2, 1), (3, 1)
WRITTEN = {log: Row(1, False) for log in (A, B, C)}
IN_LOGS, IN_BASE = Fold(None, (A, B, C)), Fold(Fold(None, (A, B)), (C,))
LOGS_FIRST = Fold(Fold(None, (A,)), (Fold(None, (B, C)),))


@pytest.mark.parametrize("laws", FUNCTIONS)
def test_only_an_average_depends_on_what_was_merged_first(laws: str) -> None:
    right = by_definition((A, B, C), WRITTEN, laws, deletes=False)
    assert [read(shape, WRITTEN.get, laws, deletes=False) == right for shape in (IN_LOGS, IN_BASE, LOGS_FIRST)] == [
        True, True, laws != "not_associative"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("laws", "message"),
    [("all", None), ("not_idempotent", "a row and itself"), ("not_commutative", "came first"),
     ("not_associative", "three rows")],
)  # fmt: skip
def test_each_breaks_its_law_and_what_the_engine_is_given_breaks_the_same(laws: str, message: str | None) -> None:
    broken = law_broken(laws)
    assert broken is None if message is None else message in str(broken)
    f = BY_LAWS[laws]
    a, b, c = ({"ts": 1, "value": name} for name in ("a", "b", "c"))
    kept = [f(a, a) == a, f(a, b)["value"] == f(b, a)["value"], f(f(a, b), c)["value"] == f(a, f(b, c))["value"]]
    assert kept == [laws != "not_idempotent", laws != "not_commutative", laws != "not_associative"]


def test_a_delete_hides_what_completed_before_it_and_a_window_goes_on_from_there() -> None:
    rows = {A: Row(5, False), B: Row(1, True), C: Row(2, False)}
    assert read(IN_LOGS, rows.get, "all", deletes=True) == MergedRecords((C,), C, delete=B)
    assert read(IN_BASE, rows.get, "all", deletes=True) == MergedRecords((C,), C)
    assert read(Fold(None, (A, B)), rows.get, "all", deletes=False) is None
    before = by_definition((A,), rows, "all", deletes=True)
    window = by_definition((B, C), rows, "all", deletes=True)
    assert before is not None
    assert window is not None
    assert merged_on(before, window, "all") == by_definition((A, B, C), rows, "all", deletes=True)
    assert merged_on(MergedRecords(), MergedRecords(), "all") is None


def test_the_row_has_the_newest_write_and_the_greatest_ordering_value() -> None:
    records = {A: Record(5, "w1"), B: Record(1, None, deleted=True), C: Record(2, "w3")}
    row, delete = records_of(MergedRecords((A, C), C, delete=B), records.__getitem__, "all")
    assert row == Record(5, "w1 w3", requested=3)
    no_ordering: Any = None
    assert delete == Record(1, None, deleted=True, requested=2)._replace(ordering=no_ordering)


def test_pairs_are_printed_in_brackets() -> None:
    pair = FUNCTIONS["not_associative"]
    assert text_of(pair(pair((B,), (A,)), (C,)), {A: "a", B: "b", C: "c"}.__getitem__, "not_associative") == "((a b) c)"


@pytest.mark.parametrize("table", [{"columns": 2}, {"table_type": "COPY_ON_WRITE"}])
def test_a_function_merges_whole_rows_in_log_files(table: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a user's function merges whole rows of a MERGE_ON_READ table"):
        World(actors={"writer": 1}, merge_mode="CUSTOM", **table)


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
