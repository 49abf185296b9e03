"""The worlds (search configurations) of specs/verdicts.toml, in which protocols are checked and mutants are killed.

At full depth, the default protocol is also checked in larger worlds, for example with one table service or a pair of
table services.
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
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.validation import nearest, refuse_unknown
from nbcc.model.world import crew

from .bound import Bound, bound_of

Depth = Literal["quick", "full"]
DEPTHS: Final[tuple[Depth, ...]] = ("quick", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBound:
    """A world (search configuration) in which protocols are checked.

    If `matrix` is True, all protocols are checked in this world; otherwise, the world is used only to kill mutants. If
    `reduced` is True, the search uses reductions such as symmetry. Reductions save time in worlds with many states.
    """

    world: World
    depth: Depth
    matrix: bool = True
    reduced: bool = False

    @property
    def bound(self) -> Bound:
        return bound_of(self.world)


def from_mapping(given: Mapping[str, Any]) -> SearchBound:
    """Parse a search bound from its table in specs/verdicts.toml.

    Raises:
        ValueError: If a field is unknown; the message suggests the most similar field.
    """
    sections = ("actors", "actor", "limits", "table", "writes")
    refuse_unknown(given, (*sections, "depth", "matrix", "reduced"), "specs/verdicts.toml [[bound]]")
    if (depth := given.get("depth", "quick")) not in DEPTHS:
        raise ValueError(f"specs/verdicts.toml [[bound]]: depth = {depth!r}; {nearest(str(depth), DEPTHS)}")
    world = World.from_mapping({name: given[name] for name in sections if name in given})
    reduced = given.get("reduced", depth == "full")
    return SearchBound(world=world, depth=depth, matrix=given.get("matrix", True), reduced=reduced)


@cache
def all_bounds() -> tuple[SearchBound, ...]:
    """Return the search bounds in specs/verdicts.toml, in the order of the file."""
    return tuple(from_mapping(each) for each in _file()["bound"])


def matrix_bounds(depth: Depth) -> tuple[SearchBound, ...]:
    """Return the worlds in which all protocols are checked up to the given search depth."""
    return tuple(each for each in all_bounds() if each.matrix and DEPTHS.index(each.depth) <= DEPTHS.index(depth))


@cache
def mixed() -> tuple[SearchBound, ...]:
    """Return the worlds in which some actors override options of the default protocol."""
    return tuple(from_mapping(each) for each in _file()["mixed"])


def services() -> tuple[AddedService, ...]:
    return tuple(_service(each) for each in _file()["service"])


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedService:
    """A table service: the actors and limits that it adds to a world."""

    actors: Mapping[str, int]
    limits: Mapping[str, Any] = field(hash=False)


def _service(given: Mapping[str, Any]) -> AddedService:
    refuse_unknown(given, ("actors", "limits"), "specs/verdicts.toml [[service]]")
    return AddedService(actors=given["actors"], limits=given.get("limits", {}))


@cache
def large() -> tuple[SearchBound, ...]:
    """Return the large worlds, which are searched only under the default protocol and at full depth.

    The result contains the worlds that specs/verdicts.toml lists as large, and a world for each table service and for
    each pair of table services.
    """
    given = [from_mapping({**each, "depth": "full"}) for each in _file()["large"]]
    alone = [_with_services(each, groups=2, crashes=1) for each in services()]
    pairs = [_with_services(one, other, groups=1, crashes=0) for one, other in combinations(services(), 2)]
    return (*given, *alone, *pairs)


def _with_services(*together: AddedService, groups: int, crashes: int) -> SearchBound:
    actors, limits = crew(WRITER, WRITER, COMPACTOR), {"compactions": 1, "crashes": crashes}
    for service in together:
        actors |= service.actors
        limits |= service.limits
    return from_mapping({"actors": actors, "limits": limits, "table": {"buckets": groups}, "depth": "full"})


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((files("nbcc") / "specs" / "verdicts.toml").read_text(encoding="utf-8"))


@cache
def pins() -> dict[str, Any]:
    """Map each protocol to the expected search result in specs/sizes.toml: a world, a promise, and whether the promise
    is violated.
    """
    text = (files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8")
    protocols: dict[str, Any] = tomllib.loads(text)["protocols"]
    return protocols
