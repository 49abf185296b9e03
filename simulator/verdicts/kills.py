"""The accepted kills: which mutant breaks which promise, in which world. The kills limit the claim HOLDS.

A promise HOLDS only if enough of its mutants were killed, and only in worlds larger than theirs.
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
    """A promise that a mutant breaks: the bound of the smallest world that shows it, and in how many steps.

    `states` and `seconds` are figures of the search; the seconds depend on the machine.
    """

    mutant: str
    promise: str
    bound: Bound
    steps: int
    states: int
    seconds: float


def small_worlds() -> tuple[World, ...]:
    """The worlds in which mutants are killed, all smaller than the worlds of the matrix."""
    return tuple(each.world for each in all_bounds() if not each.matrix)


def path() -> Path:
    """The file of the accepted kills."""
    return Path(str(files("nbcc") / "specs" / "kills.json"))


def accepted() -> tuple[Kill, ...]:
    """The kills of specs/kills.json. A test compares the accepted kills with new searches."""
    return from_text(path().read_text("utf-8"))


@cache
def from_text(text: str) -> tuple[Kill, ...]:
    """Kills from their JSON."""
    return tuple(Kill(**row) for row in json.loads(text)["kills"])


def believable(rows: Iterable[MatrixRow], known: Sequence[Kill]) -> tuple[MatrixRow, ...]:
    """The rows, with HOLDS replaced by UNDETERMINED where the kills do not support it."""
    return tuple(
        replace(row, cells={name: believed(name, cell, known) for name, cell in row.cells.items()}) for row in rows
    )


def believed(promise: str, cell: Cell, known: Sequence[Kill]) -> Cell:
    """HOLDS, or UNDETERMINED with the reason why the kills do not support it."""
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
    """Mutant -> its kills."""
    found: dict[str, list[Kill]] = {}
    for kill in known:
        found.setdefault(kill.mutant, []).append(kill)
    return {name: tuple(each) for name, each in found.items()}
