"""The matrix of verdicts, searched anew: the accepted pages say what it says, violations included."""

from __future__ import annotations

import os
from itertools import combinations

import pytest

from nbcc.simulator import specs
from nbcc.simulator.verdicts import MatrixRow, accepted, believable, matrix, page, page_path, within

from .pins import SIZES

WORKERS = 1 if os.environ.get("PYTEST_XDIST_WORKER") else (os.cpu_count() or 1)


SOME = ("tombstones-dropped", "minted-file-ids", "base-instant-naming", "occ-by-file-id")
"""Settings whose worlds are small; all of them are searched anew at night, and by `nbcc verdicts`."""


def test_some_rows_are_what_was_accepted() -> None:
    found = matrix("quick", [specs.protocol_file(name) for name in SOME], workers=WORKERS)
    some = believable(within(found, "quick"), accepted())
    rows = [line for line in page(some, "quick").splitlines() if line.startswith("| [") and "(#" in line]
    assert [name for row in rows for name in SOME if row.startswith(f"| [{name}](")] == list(SOME)
    assert set(rows) <= set(page_path("quick").read_text("utf-8").splitlines())


@pytest.fixture(scope="module")
def searched() -> tuple[MatrixRow, ...]:
    return matrix("full", workers=WORKERS, max_states=2_000_000, memory=8)


@pytest.fixture(scope="module")
def quick(searched: tuple[MatrixRow, ...]) -> tuple[MatrixRow, ...]:
    return believable(within(searched, "quick"), accepted())


@pytest.mark.nightly
@pytest.mark.xdist_group("verdicts")
def test_the_matrix_is_what_was_accepted(quick: tuple[MatrixRow, ...]) -> None:
    """`nbcc verdicts --accept` writes it anew: look at why first."""
    assert page(quick, "quick") == page_path("quick").read_text("utf-8")


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
def test_each_setting_differs_from_every_other_or_is_one_that_somebody_uses(quick: tuple[MatrixRow, ...]) -> None:
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
    assert page(full, "full") == page_path("full").read_text("utf-8")
    for small, large in zip(quick, full, strict=True):
        broken = {name for name, cell in small.cells.items() if cell.steps is not None}
        assert broken <= {name for name, cell in large.cells.items() if cell.steps is not None}, small.name
