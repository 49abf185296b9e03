"""The ladder of specs/verdicts.toml: worlds from small to large; settings are judged, mutants are killed in them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from nbcc.model import World
from nbcc.model.fields import nearest, refuse_unknown

from .bound import Bound, bound_of

Depth = Literal["quick", "full"]
DEPTHS: Final[tuple[Depth, ...]] = ("quick", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A world of the ladder. `matrix`: settings are judged in it, too."""

    world: World
    depth: Depth
    matrix: bool

    @property
    def bound(self) -> Bound:
        return bound_of(self.world)


def from_mapping(given: dict[str, Any]) -> Rung:
    """A rung from its table; ValueError names the nearest field."""
    refuse_unknown(given, ("actors", "limits", "table", "depth", "matrix"), "specs/verdicts.toml [[rung]]")
    if (depth := given.get("depth", "quick")) not in DEPTHS:
        raise ValueError(f"specs/verdicts.toml [[rung]]: depth = {depth!r}; {nearest(str(depth), DEPTHS)}")
    world = World.from_mapping({name: given[name] for name in ("actors", "limits", "table") if name in given})
    return Rung(world=world, depth=depth, matrix=given.get("matrix", True))


@cache
def ladder() -> tuple[Rung, ...]:
    """Every rung, small ones first."""
    text = (files("nbcc") / "specs" / "verdicts.toml").read_text(encoding="utf-8")
    return tuple(from_mapping(each) for each in tomllib.loads(text)["rung"])


def rungs(depth: Depth) -> tuple[Rung, ...]:
    """Those in which settings are judged at a depth."""
    return tuple(rung for rung in ladder() if rung.matrix and DEPTHS.index(rung.depth) <= DEPTHS.index(depth))


@cache
def pins() -> dict[str, Any]:
    """Protocol -> its pins in specs/sizes.toml: `world`, `promise`, `violated`."""
    text = (files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8")
    protocols: dict[str, Any] = tomllib.loads(text)["protocols"]
    return protocols
