"""Cells in processes of their own give what a search here gives, and a process that dies loses one cell only."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.explore import Result, Verdict
from nbcc.simulator.explore.cells import Cell, search_cells

CELLS = [
    Cell(world="demo", protocol="tombstones-dropped"),
    Cell(world="demo", promises=("SNAP", "MONO")),
    Cell(world="two_phase_commit_3"),
    Cell(world="demo", mutant="search-drops-a-successor"),
]


def timeless(result: Result) -> Result:
    return replace(result, seconds=0)


def test_two_workers_find_what_one_finds_in_the_order_given() -> None:
    alone = [(cell, timeless(found)) for cell, found in search_cells(CELLS)]
    heard: list[Cell] = []
    together = search_cells(CELLS, workers=2, done=lambda cell, found: heard.append(cell))

    assert [(cell, timeless(found)) for cell, found in together] == alone
    assert [cell for cell, _ in alone] == CELLS
    assert sorted(map(repr, heard)) == sorted(map(repr, CELLS))
    assert [str(found.verdict) for _, found in alone] == ["VIOLATED", "HOLDS", "HOLDS", "UNDETERMINED"]
    assert alone[3][1].distinct < alone[1][1].distinct


def test_a_mistake_in_a_cell_is_told_to_the_caller() -> None:
    with pytest.raises(ValueError, match="no world is called 'dmo'") as told:
        list(search_cells([Cell(world="dmo")], workers=2))
    assert told.value.__notes__ == [f"in the search of {Cell(world='dmo')}"]


class Deadly:
    """A world that ends the process which takes it out of its envelope."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


def test_a_process_that_dies_loses_its_own_cell_only() -> None:
    lost = Cell(world=Deadly())  # type: ignore[arg-type]  # the very point
    (_, dead), (_, alive) = search_cells([lost, CELLS[1]], workers=2)

    assert (dead.verdict, dead.stopped) == (Verdict.UNDETERMINED, "the process that searched it died (exit 9)")
    assert alive.verdict is Verdict.HOLDS
