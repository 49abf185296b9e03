"""The figures in specs/sizes.toml, and a search with every promise under watch."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from itertools import combinations
from typing import Any

import pytest

from nbcc.model import Model
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator.search.explore import Result, Verdict, explore

SIZES: dict[str, Any] = tomllib.loads((files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8"))

OPTIMISTIC = {
    "conflict_check", "conflict_window", "conflict_by", "conflict_reads", "timeline", "priority", "early_detection",
}  # fmt: skip
"""The options of optimistic writers."""


def search(system: Any) -> Result:
    """Everything there is to know of a system, promises and canary."""
    return explore(system, list(PROMISES.values()), canary=CANARY)


def violated(result: Result) -> dict[str, int | None]:
    """The promises that a search found broken, with the length of each counterexample."""
    return {name: found.steps for name, found in result.promises.items() if found.verdict is Verdict.VIOLATED}


def case(world: str, *values: object, most: int = 5_000) -> Any:
    """Values of a parametrised test; one in a world of more states than `most` waits for `make nightly`."""
    return pytest.param(*values, marks=pytest.mark.nightly if SIZES["worlds"][world]["distinct"] > most else ())


def pairs(model: Model) -> Iterator[dict[str, str]]:
    """Every exchange of two actors of one kind, as a renaming."""
    for names in model.actors.values():
        for one, other in combinations(names, 2):
            yield {one: other, other: one}
