"""Worlds drawn at random, or made by hand (specs/drawn-worlds.json): each shows a generated mutant that lived.

Their figures are pinned, as those of the worlds of specs are: what is seen there turns a test red.
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

PATH: Final = Path(str(files("nbcc") / "specs" / "drawn-worlds.json"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A small world under a protocol: distinct states, generated ones and depth; the promises that are violated there,
    with the steps of the shortest counterexample; whether a run can come to a deadlock."""

    world: World
    protocol: Protocol
    sizes: tuple[int, int, int]
    violated: Mapping[str, int | None]
    deadlock: bool

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """As `to_mapping` gives it."""
        return cls(
            world=World.from_mapping(given["world"]),
            protocol=Protocol.from_mapping(given["protocol"]),
            sizes=(given["distinct"], given["generated"], given["depth"]),
            violated=given["violated"],
            deadlock=given["deadlock"],
        )

    def to_mapping(self) -> dict[str, Any]:
        """An entry of the file; of the protocol what is not the default."""
        return {
            "world": self.world.to_mapping(),
            "protocol": self.protocol.differences(),
            **dict(zip(("distinct", "generated", "depth"), self.sizes, strict=True)),
            "violated": dict(self.violated),
            "deadlock": self.deadlock,
        }


@cache
def drawn() -> Mapping[str, Drawn]:
    """All of them by name, in the order in which they were found."""
    entries = json.loads(PATH.read_text("utf-8"))
    return {f"drawn {number + 1}": Drawn.from_mapping(entry) for number, entry in enumerate(entries)}


def add(new: Drawn) -> str:
    """Write one more down; its name."""
    entries = [*(each.to_mapping() for each in drawn().values()), new.to_mapping()]
    PATH.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    drawn.cache_clear()
    return list(drawn())[-1]
