"""Cells in processes of their own give what a search here gives, and a process that dies loses one cell only."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.explore import Result, Verdict
from nbcc.simulator.explore.cells import Cell, search_cells
from nbcc.simulator.explore.lost import fleeting, lost
from nbcc.simulator.explore.memory import MemoryBound

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


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_in_a_cell_is_its_own_where_nobody_wants_to_see_it(workers: int) -> None:
    some = search_cells([Cell(world="dmo"), CELLS[1]], workers=workers, raises=False)
    (_, failed), (_, alive) = some

    assert failed.verdict is Verdict.UNDETERMINED
    assert re.match(
        r"the search failed: ValueError: no world is called 'dmo'.* \(\w+.py, line \d+\)$", failed.stopped or ""
    )
    assert alive.verdict is Verdict.HOLDS


def test_what_fails_or_is_short_of_memory_says_nothing_that_lasts() -> None:
    (_, whole), (_, cut) = (*search_cells([CELLS[1]]), *search_cells([CELLS[1]], max_states=9))
    assert (fleeting(whole), fleeting(cut)) == (None, None)
    assert fleeting(lost("it died")) == "it died"
    no_room = MemoryBound(1e-9).reached({})
    assert no_room is not None
    assert fleeting(replace(cut, stopped=no_room)) == no_room
    short = replace(whole.promises["SNAP"], because="one row (not proven shortest: more than 2 GiB of memory)")
    assert fleeting(replace(whole, promises={"SNAP": short})) == short.because
