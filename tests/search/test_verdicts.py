"""The matrix of verdicts, searched again, equals the accepted data: verdicts, steps, bounds, reasons, anomalies."""

from __future__ import annotations

import os
from itertools import combinations
from typing import Any

import pytest

from nbcc.simulator import specs
from nbcc.simulator.lockstep.findings import confirmed
from nbcc.simulator.search.verdicts import (
    DEPTHS,
    MatrixRow,
    accepted,
    believable,
    load,
    matrix,
    row_data,
    to_data,
    within,
)

from .pins import SIZES

WORKERS = 1 if os.environ.get("PYTEST_XDIST_WORKER") else (os.cpu_count() or 1)


SOME = ("base-instant-naming", "occ-services-first")
"""Protocols whose worlds are small. `make nightly` and `nbcc verdicts` search all protocols."""


def test_some_rows_are_what_was_accepted() -> None:
    found = matrix("quick", [specs.protocol_file(name) for name in SOME], workers=WORKERS)
    some = believable(confirmed(within(found, "quick")), accepted())
    known = load("quick")["protocols"]
    assert {row.name: without_reasons(row_data(row)) for row in some} == {
        name: without_reasons(known[name]) for name in SOME
    }


def without_reasons(row: dict[str, Any]) -> dict[str, Any]:
    """Of several shortest runs another one may come first; the nightly test compares their messages, too."""
    cells = {
        promise: {field: value for field, value in cell.items() if field != "because"}
        for promise, cell in row["promises"].items()
    }
    return {**row, "promises": cells}


def test_the_accepted_matrices_list_every_protocol_with_its_options() -> None:
    """Without a search: a protocol file that is new or changed needs new searches."""
    wanted = {name: specs.protocol(name).differences() for name in specs.protocol_names()}
    for depth in DEPTHS:
        assert {name: row["options"] for name, row in load(depth)["protocols"].items()} == wanted


@pytest.fixture(scope="module")
def searched() -> tuple[MatrixRow, ...]:
    return matrix("full", workers=WORKERS, max_states=2_000_000, memory=8)


@pytest.fixture(scope="module")
def quick(searched: tuple[MatrixRow, ...]) -> tuple[MatrixRow, ...]:
    return believable(confirmed(within(searched, "quick")), accepted())


@pytest.mark.nightly
@pytest.mark.xdist_group("verdicts")
def test_the_matrix_is_what_was_accepted(quick: tuple[MatrixRow, ...]) -> None:
    """`nbcc verdicts --accept` writes it again: find out why first."""
    assert to_data(quick, "quick") == load("quick")


@pytest.mark.nightly
@pytest.mark.xdist_group("verdicts")
def test_what_is_pinned_for_a_setting_is_in_its_row(quick: tuple[MatrixRow, ...]) -> None:
    for row in quick:
        pinned = SIZES["protocols"].get(row.name, {"violated": {}})["violated"]
        found = {name: cell.steps for name, cell in row.cells.items() if cell.steps is not None}
        assert pinned.keys() <= found.keys(), row.name
        assert all((found[name] or 0) <= steps for name, steps in pinned.items()), row.name


@pytest.mark.nightly
@pytest.mark.xdist_group("verdicts")
def test_the_default_breaks_nothing(quick: tuple[MatrixRow, ...]) -> None:
    assert quick[0].name == "default"
    assert {str(cell.verdict) for cell in quick[0].cells.values()} <= {"HOLDS", "UNDETERMINED"}


@pytest.mark.nightly
@pytest.mark.xdist_group("verdicts")
def test_each_protocol_differs_from_every_other_or_is_in_use(quick: tuple[MatrixRow, ...]) -> None:
    for one, other in combinations(quick, 2):
        same = [str(c.verdict) for c in one.cells.values()] == [str(c.verdict) for c in other.cells.values()]
        assert not same or (one.file.used_by and other.file.used_by), f"{one.name} and {other.name}"
        assert one.file.protocol != other.file.protocol


@pytest.mark.nightly
@pytest.mark.xdist_group("verdicts")
def test_the_matrix_of_larger_worlds_is_what_was_accepted(
    searched: tuple[MatrixRow, ...], quick: tuple[MatrixRow, ...]
) -> None:
    full = believable(searched, accepted())
    assert to_data(full, "full") == load("full")
    for small, large in zip(quick, full, strict=True):
        broken = {name for name, cell in small.cells.items() if cell.steps is not None}
        assert broken <= {name for name, cell in large.cells.items() if cell.steps is not None}, small.name
