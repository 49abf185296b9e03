"""How fast the search is: transitions a second without promises, and whole verdicts with all of them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.explore import explore

WORLDS = ("core_small", "readers", "two_phase_commit_7")


def figures(rounds: int) -> list[dict[str, Any]]:
    """A row for each world: sizes, seconds and transitions a second; a Hudi world once more with every promise."""
    found = []
    for world in WORLDS:
        found.append(_figure(world, rounds, ()))
        if not world.startswith("two_phase_commit"):
            found.append(_figure(world, rounds, tuple(PROMISES.values())))
    return found


def _figure(world: str, rounds: int, promises: Sequence[Any]) -> dict[str, Any]:
    results = [explore(specs.system(world), promises) for _ in range(rounds)]
    seconds = median(result.seconds for result in results)
    return {
        "world": world,
        "promises": len(promises),
        "distinct": results[0].distinct,
        "generated": results[0].generated,
        "seconds": round(seconds, 3),
        "transitions_per_second": round(results[0].generated / seconds),
    }


def text(result: dict[str, Any]) -> str:
    """Sizes and speed, a line a world."""
    lines = [f"{'search':20}{'promises':>9}{'distinct':>10}{'generated':>11}{'seconds':>9}{'transitions/s':>15}"]
    lines += [
        f"{row['world']:20}{row['promises']:>9}{row['distinct']:>10}{row['generated']:>11}{row['seconds']:>9.2f}"
        f"{row['transitions_per_second']:>15}"
        for row in result["worlds"]
    ]
    return "\n".join(lines)
