"""Kills: accepted records that a mutant breaks a promise in a world. Kills decide whether a verdict HOLDS is believed.

The verdict HOLDS requires that enough mutants of the promise were killed. HOLDS also requires that the searched worlds
are larger than the worlds in which the mutants were killed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from nbcc.model import World

from ..explore import Verdict
from .bound import Bound, exceeds, sentence
from .judge import Cell, MatrixRow
from .search_bounds import all_bounds

ENOUGH: Final = 3
"""A promise HOLDS only if at least this many of its mutants were killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """A mutant that breaks a promise, with the bound of the smallest world in which the mutant breaks it, and the
    number of steps.

    `states` and `seconds` are figures of the search; `seconds` depends on the machine.
    """

    mutant: str
    promise: str
    bound: Bound
    steps: int
    states: int
    seconds: float


def small_worlds() -> tuple[World, ...]:
    """Return the worlds in which mutants are killed, all of which are smaller than the worlds of the matrix."""
    return tuple(each.world for each in all_bounds() if not each.matrix)


def path() -> Path:
    """Return the path of the file with the accepted kills."""
    return Path(str(files("nbcc") / "specs" / "kills.json"))


def accepted() -> tuple[Kill, ...]:
    """Return the kills listed in specs/kills.json. A test compares these accepted kills with new searches."""
    return from_text(path().read_text("utf-8"))


@cache
def from_text(text: str) -> tuple[Kill, ...]:
    """Parse kills from the text of a JSON file."""
    return tuple(Kill(**row) for row in json.loads(text)["kills"])


def believable(rows: Iterable[MatrixRow], known: Sequence[Kill]) -> tuple[MatrixRow, ...]:
    """Return the rows of the matrix, with each HOLDS that the kills do not support replaced by UNDETERMINED."""
    return tuple(
        replace(row, cells={name: believed(name, cell, known) for name, cell in row.cells.items()}) for row in rows
    )


def believed(promise: str, cell: Cell, known: Sequence[Kill]) -> Cell:
    """Return the cell unchanged if the kills support HOLDS. If the kills do not support HOLDS, return UNDETERMINED with
    the reason.
    """
    if cell.verdict is not Verdict.HOLDS:
        return cell
    because = next(_doubts(promise, cell.bounds, known), None)
    return cell if because is None else Cell(verdict=Verdict.UNDETERMINED, bounds=cell.bounds, because=because)


def _doubts(promise: str, bounds: Sequence[Bound], known: Sequence[Kill]) -> Iterator[str]:
    mine = [kill for kill in known if kill.promise == promise]
    if (count := len({kill.mutant for kill in mine})) < ENOUGH:
        yield f"{count} of its mutants were killed, {ENOUGH} are needed"
    for kill in mine:
        if not any(exceeds(bound, kill.bound) for bound in bounds):
            yield f"no world that was searched is beyond {sentence(kill.bound)}, which kills {kill.mutant}"


def mutants_of(known: Iterable[Kill]) -> Mapping[str, tuple[Kill, ...]]:
    found: dict[str, list[Kill]] = {}
    for kill in known:
        found.setdefault(kill.mutant, []).append(kill)
    return {name: tuple(each) for name, each in found.items()}
