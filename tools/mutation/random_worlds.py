"""Random small worlds under random protocols (specs/random-worlds.json), in each of which a mutant was killed.

The figures of these worlds are pinned, so that tests detect a change of the model in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Self

from nbcc.model import Protocol, World

PATH: Final = Path(str(files("nbcc") / "specs" / "random-worlds.json"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomWorld:
    """A world under a protocol, with its figures.

    `sizes` contains distinct states, generated states and depth. `violated` maps a promise to the number of steps of
    its shortest counterexample. `deadlock` states whether a run can end in a deadlock.
    """

    world: World
    protocol: Protocol
    sizes: tuple[int, int, int]
    violated: Mapping[str, int | None]
    deadlock: bool

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Make a random world from an entry of the file."""
        return cls(
            world=World.from_mapping(given["world"]),
            protocol=Protocol.from_mapping(given["protocol"]),
            sizes=(given["distinct"], given["generated"], given["depth"]),
            violated=given["violated"],
            deadlock=given["deadlock"],
        )


@cache
def random_worlds() -> Mapping[str, RandomWorld]:
    """All random worlds by name."""
    entries = json.loads(PATH.read_text("utf-8"))
    return {f"random {number + 1}": RandomWorld.from_mapping(entry) for number, entry in enumerate(entries)}
