"""The kill matrix: which mutant breaks which promise, in the smallest world of the ladder that shows it.

A promise that no mutant breaks is not checked, and a world that is no larger than the one in which a mutant was seen
proves nothing: `believable` takes HOLDS away from both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from nbcc.model import Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices

from .. import mutants, specs
from ..explore import Verdict
from ..explore.cells import Cell as SearchCell
from ..explore.cells import search_cell
from .bound import Bound, bound_of, exceeds, sentence
from .judge import Cell, Row
from .ladder import ladder

ENOUGH: Final = 3
"""Mutants of a promise that must have been killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """A promise that a mutant breaks: the bound of the smallest world that shows it, in how many steps.

    `states` and `seconds`: of the search that saw it; seconds are of the machine that wrote them down.
    """

    mutant: str
    promise: str
    bound: Bound
    steps: int
    states: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that a search must see: a mutant of the model, or one weaker choice of the protocol.

    `breaks`: the promise that its file speaks of, '' for a choice.
    """

    name: str
    breaks: str
    cell: SearchCell
    sound: SearchCell
    """The same without the mutant's replacement: what is broken there is not the replacement's doing."""
    world: World | None = None


def subjects() -> tuple[Subject, ...]:
    """Every mutant that a search must see, and every weaker choice of the protocol."""
    found = [_mutant(each) for each in map(mutants.load, mutants.names()) if each.detector == "search"]
    weaker = [(name, value) for name, values in choices().items() for value in values[1:]]
    for name, value in weaker:
        cell = SearchCell(world="", protocol=Protocol.from_mapping({name: value}))
        found.append(Subject(name=f"{name}={value}", breaks="", cell=cell, sound=SearchCell(world="")))
    return tuple(found)


def _mutant(mutant: mutants.Mutant) -> Subject:
    plain = Protocol.from_mapping({**mutant.protocol}) if mutant.replace else Protocol()
    return Subject(
        name=mutant.name,
        breaks=mutant.breaks,
        cell=SearchCell(world="", mutant=mutant.name),
        sound=SearchCell(world="", protocol=plain),
        world=specs.world(mutant.world) if mutant.world else None,
    )


def small_worlds() -> tuple[World, ...]:
    """The rungs in which mutants are killed: those below the worlds of the matrix."""
    return tuple(rung.world for rung in ladder() if not rung.matrix)


def kills(subject: Subject) -> tuple[Kill, ...]:
    """Climb the ladder: for each promise the first rung that breaks it."""
    found: dict[str, Kill] = {}
    for world in (*small_worlds(), *([subject.world] if subject.world else [])):
        result = search_cell(replace(subject.cell, world=world))
        broken = {name: each for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED}
        if new := broken.keys() - found.keys():
            for name in _broken_anyway(subject, world, new):
                del broken[name]
        for name in sorted(new & broken.keys()):
            found[name] = Kill(
                mutant=subject.name, promise=name, bound=bound_of(world), steps=broken[name].steps or 0,
                states=result.distinct, seconds=round(result.seconds, 2),
            )  # fmt: skip
    return tuple(found.values())


def _broken_anyway(subject: Subject, world: World, promises: Iterable[str]) -> tuple[str, ...]:
    if subject.sound.protocol in ("default", Protocol()):
        return ()
    result = search_cell(replace(subject.sound, world=world))
    return tuple(name for name in promises if result.promises[name].verdict is Verdict.VIOLATED)


def kill_all(done: Callable[[], None] | None = None, known: Iterable[Kill] = ()) -> tuple[Kill, ...]:
    """Every kill of every subject, in the order of specs/kills.json; ValueError names the mutants that live.

    `known` are kept where they are as they were: a subject of which one has changed climbs the ladder again.
    """
    found: list[Kill] = []
    alive = []
    before = mutants_of(known)
    for subject in subjects():
        mine = before.get(subject.name, ())
        if not mine or not all(_still_there(subject, kill) for kill in mine):
            mine = kills(subject)
        found += mine
        if subject.breaks and subject.breaks not in {kill.promise for kill in mine}:
            alive.append(f"{subject.name} (it should break {subject.breaks})")
        if done:
            done()
    if alive:
        raise ValueError(
            f"no rung of specs/verdicts.toml kills {', '.join(alive)}; give it a world, or the ladder a rung"
        )
    return _sorted(found)


def _still_there(subject: Subject, kill: Kill) -> bool:
    own = (subject.world,) if subject.world else ()
    where = next((world for world in (*small_worlds(), *own) if bound_of(world) == kill.bound), None)
    if where is None:
        return False
    found = search_cell(replace(subject.cell, world=where, promises=(kill.promise,))).promises[kill.promise]
    return found.verdict is Verdict.VIOLATED and found.steps == kill.steps


def to_mapping(found: Iterable[Kill]) -> dict[str, Any]:
    """specs/kills.json."""
    rows = [
        {"mutant": k.mutant, "promise": k.promise, "bound": dict(k.bound), "steps": k.steps, "states": k.states,
         "seconds": k.seconds}
        for k in _sorted(found)
    ]  # fmt: skip
    return {"format": 1, **_searched(), "kills": rows}


def _sorted(found: Iterable[Kill]) -> tuple[Kill, ...]:
    return tuple(sorted(found, key=lambda kill: (kill.mutant, kill.promise)))


def _searched() -> dict[str, Any]:
    """By what mutants were judged, and where: if either changes, all of them have to be judged again."""
    return {"promises": list(PROMISES), "worlds": [sentence(bound_of(world)) for world in small_worlds()]}


def path() -> Path:
    """Where the kills that were accepted lie."""
    return Path(str(files("nbcc") / "specs" / "kills.json"))


def accepted() -> tuple[Kill, ...]:
    """The kills of specs/kills.json, which a test holds against new searches."""
    return from_text(path().read_text("utf-8"))


def still_good() -> tuple[Kill, ...]:
    """The accepted kills, if promises and ladder are those under which they were found; else none."""
    given = json.loads(path().read_text("utf-8"))
    return accepted() if {name: given.get(name) for name in _searched()} == _searched() else ()


@cache
def from_text(text: str) -> tuple[Kill, ...]:
    """Kills from their JSON."""
    return tuple(Kill(**row) for row in json.loads(text)["kills"])


# Bound adequacy.


def believable(rows: Iterable[Row], known: Sequence[Kill]) -> tuple[Row, ...]:
    """The rows, with HOLDS only where the mutants of the promise were killed well within the bounds searched."""
    return tuple(
        replace(row, cells={name: believed(name, cell, known) for name, cell in row.cells.items()}) for row in rows
    )


def believed(promise: str, cell: Cell, known: Sequence[Kill]) -> Cell:
    """HOLDS, or UNDETERMINED with the reason why nobody need believe it."""
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
