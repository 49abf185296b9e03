"""Kills: the stored evidence of which mutants (deliberately wrong models) violate which promise in which world.

A promise HOLDS only if at least `ENOUGH` mutants are known to violate it. For each such mutant, the promise must also
hold in a larger world than the one in which the mutant violates it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from nbcc.model import Protocol, World
from nbcc.model.assembly import is_modelled

from ... import specs
from .. import mutants
from ..explore import Verdict
from .bound import Bound, bound_of, exceeds, sentence
from .judge import Cell, MatrixRow
from .search_bounds import all_bounds

DEFAULT: Final = Protocol()
ENOUGH: Final = 3
"""A promise HOLDS only if at least this many of its mutants were killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """A mutant (deliberately wrong model) that violates a promise. `bound` is the bound of the smallest world with a
    violation, and `steps` is the length of the violating run.

    `states` and `seconds` are the number of states and the duration of the search that found the violation.
    """

    mutant: str
    promise: str
    bound: Bound
    steps: int
    states: int
    seconds: float


def small_worlds() -> tuple[World, ...]:
    """Return the worlds in which mutants are searched for violations."""
    return tuple(each.world for each in all_bounds() if not each.matrix)


def path() -> Path:
    """Return the path of specs/kills.json, which contains the stored kills."""
    return Path(str(files("nbcc") / "specs" / "kills.json"))


def accepted() -> tuple[Kill, ...]:
    """Return the killed mutants that specs/kills.json records."""
    return from_text(path().read_text("utf-8"))


@cache
def from_text(text: str) -> tuple[Kill, ...]:
    """Parse the content of specs/kills.json."""
    return tuple(Kill(**row) for row in json.loads(text)["kills"])


def believable(rows: Iterable[MatrixRow], known: Sequence[Kill]) -> tuple[MatrixRow, ...]:
    """Apply `believed` to every cell of the given rows of the verdict matrix."""
    return tuple(
        replace(row, cells={name: believed(name, cell, known, row.file.protocol) for name, cell in row.cells.items()})
        for row in rows
    )


def believed(promise: str, cell: Cell, known: Sequence[Kill], protocol: Protocol = DEFAULT) -> Cell:
    """Return the cell, or UNDETERMINED instead of HOLDS if the killed mutants do not satisfy the criteria in the
    module's docstring. A mutant of another protocol than `protocol` counts, but asks for no larger world. Nor does a
    mutant whose world is not modelled under `protocol`.
    """
    if cell.verdict is not Verdict.HOLDS:
        return cell
    because = next(_doubts(promise, cell.bounds, known, protocol), None)
    return cell if because is None else Cell(verdict=Verdict.UNDETERMINED, bounds=cell.bounds, because=because)


def _doubts(promise: str, bounds: Sequence[Bound], known: Sequence[Kill], protocol: Protocol) -> Iterator[str]:
    mine = [kill for kill in known if kill.promise == promise]
    # By mutant: one that is killed in several worlds is one wrong model.
    if (count := len({kill.mutant for kill in mine})) < ENOUGH:
        yield f"{count} of its mutants were killed, {ENOUGH} are needed"
    for kill in (each for each in mine if _is_of(each.mutant, protocol)):
        beyond = any(exceeds(bound, kill.bound) for bound in bounds)
        if not beyond and _is_modelled(kill.mutant, frozenset(kill.bound.items()), protocol):
            yield f"no world that was searched is beyond {sentence(kill.bound)}, which kills {kill.mutant}"


@cache
def _is_of(mutant: str, protocol: Protocol) -> bool:
    """True if a mutant replaces a part of the model under `protocol`, or is a weaker option value."""
    if mutant not in mutants.names():
        return True
    loaded = mutants.load(mutant)
    return not loaded.replace or dict(loaded.protocol).items() <= protocol.to_mapping().items()


@cache
def _is_modelled(mutant: str, bound: frozenset[tuple[str, int]], protocol: Protocol) -> bool:
    """True if the world with this bound, in which a mutant was killed, is modelled under `protocol`, or unknown."""
    own = mutants.load(mutant).world if mutant in mutants.names() else ""
    worlds = (*small_worlds(), *([specs.world(own)] if own else []))
    # A kill names a bound and no world, so that its world is looked up by the bound.
    there = [world for world in worlds if bound_of(world).items() == bound]
    return not there or any(is_modelled(world, protocol) for world in there)
