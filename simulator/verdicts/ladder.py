"""The ladder of specs/verdicts.toml: worlds from small to large; settings are judged, mutants are killed in them.

At full depth the default setting climbs further: the core world, each table service alone beside writers and a
compactor, and every two services together. A service is a line of that file; its worlds are made here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any, Final, Literal

from nbcc.model import World
from nbcc.model.validation import nearest, refuse_unknown

from .bound import Bound, bound_of

Depth = Literal["quick", "full"]
DEPTHS: Final[tuple[Depth, ...]] = ("quick", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A world of the ladder. `matrix`: settings are judged in it, too. `reduced`: symmetry and private steps are taken
    out of the search, which pays where there are many states."""

    world: World
    depth: Depth
    matrix: bool = True
    reduced: bool = False

    @property
    def bound(self) -> Bound:
        return bound_of(self.world)


def from_mapping(given: Mapping[str, Any]) -> Rung:
    """A rung from its table; ValueError names the nearest field."""
    sections = ("actors", "actor", "limits", "table")
    refuse_unknown(given, (*sections, "depth", "matrix", "reduced"), "specs/verdicts.toml [[rung]]")
    if (depth := given.get("depth", "quick")) not in DEPTHS:
        raise ValueError(f"specs/verdicts.toml [[rung]]: depth = {depth!r}; {nearest(str(depth), DEPTHS)}")
    world = World.from_mapping({name: given[name] for name in sections if name in given})
    reduced = given.get("reduced", depth == "full")
    return Rung(world=world, depth=depth, matrix=given.get("matrix", True), reduced=reduced)


@cache
def ladder() -> tuple[Rung, ...]:
    """Every rung, small ones first."""
    return tuple(from_mapping(each) for each in _file()["rung"])


def rungs(depth: Depth) -> tuple[Rung, ...]:
    """Those in which settings are judged at a depth."""
    return tuple(rung for rung in ladder() if rung.matrix and DEPTHS.index(rung.depth) <= DEPTHS.index(depth))


@cache
def mixed() -> tuple[Rung, ...]:
    """The worlds of the default setting alone, at every depth, in which actors make choices of their own."""
    return tuple(from_mapping(each) for each in _file()["mixed"])


def services() -> tuple[Service, ...]:
    """The table services beside the compactor."""
    return tuple(_service(each) for each in _file()["service"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Who does it, and the limits of a world that let it happen."""

    actors: Mapping[str, int]
    limits: Mapping[str, Any] = field(hash=False)


def _service(given: Mapping[str, Any]) -> Service:
    refuse_unknown(given, ("actors", "limits"), "specs/verdicts.toml [[service]]")
    return Service(actors=given["actors"], limits=given.get("limits", {}))


@cache
def large() -> tuple[Rung, ...]:
    """The worlds of the default setting alone, at full depth: those of the file, each service, every two of them."""
    given = [from_mapping({**each, "depth": "full"}) for each in _file()["large"]]
    alone = [_beside(each, groups=2, crashes=1) for each in services()]
    pairs = [_beside(one, other, groups=1, crashes=0) for one, other in combinations(services(), 2)]
    return (*given, *alone, *pairs)


def _beside(*together: Service, groups: int, crashes: int) -> Rung:
    """Two writers, a compaction and these services."""
    actors, limits = {"writer": 2, "compactor": 1}, {"compactions": 1, "crashes": crashes}
    for service in together:
        actors |= service.actors
        limits |= service.limits
    return from_mapping({"actors": actors, "limits": limits, "table": {"buckets": groups}, "depth": "full"})


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((files("nbcc") / "specs" / "verdicts.toml").read_text(encoding="utf-8"))


@cache
def pins() -> dict[str, Any]:
    """Protocol -> its pins in specs/sizes.toml: `world`, `promise`, `violated`."""
    text = (files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8")
    protocols: dict[str, Any] = tomllib.loads(text)["protocols"]
    return protocols
