"""A bound: how large a world is, dimension by dimension; what a verdict is worth, what it takes to kill a mutant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nbcc.model import World

Bound = Mapping[str, int]
"""Dimension -> how many: kinds of actors, and the whole numbers among the world's limits."""

DATA: Final = ("keys", "orderings")
"""No dimensions: rows are judged for one key with every valuation, reads are independent by key."""
NEEDS: Final = {"compactions": "compactor"}
"""Limits that say nothing where nobody is of a kind."""
LEAST: Final = {"log_versions": 1, "groups": 1, "writes_per_writer": 1}
"""What a world has anyway."""


def bound_of(world: World) -> dict[str, int]:
    """The size of a world. A world that writes in given shapes counts by its limits, which is more than it does."""
    actors = {kind: count for kind, count in world.actors.items() if count}
    numbers = {name: value for name, value in world.flat().items() if type(value) is int}
    found = {**actors, "groups": world.groups, **numbers}
    idle = [limit for limit, kind in NEEDS.items() if kind not in actors]
    return {name: n for name, n in found.items() if n and name not in (*DATA, "buckets", "partitions", *idle)}


def covers(one: Bound, other: Bound) -> bool:
    """At least as large in every dimension."""
    return all(one.get(name, 0) >= count for name, count in other.items())


def exceeds(one: Bound, other: Bound) -> bool:
    """At least as large in every dimension, and larger in one."""
    return covers(one, other) and not covers(other, one)


def sentence(bound: Bound) -> str:
    """For example: 2 writer x 1 writes_per_writer, 1 compactor x 2 compactions, 2 groups, 1 crashes."""
    told = dict(bound)
    words = []
    for name, limit in (("writer", "writes_per_writer"), ("compactor", "compactions")):
        if count := told.pop(name, 0):
            words.append(f"{_many(count, name)} × {_many(told.pop(limit, 1), _of(limit))}")
        else:
            told.pop(limit, None)
    words += [_many(n, name) for name, n in told.items() if name in ("groups",) or n != LEAST.get(name)]
    return ", ".join(words)


def _of(limit: str) -> str:
    return limit.partition("_per_")[0]


def _many(count: int, name: str) -> str:
    """Counted is the noun: 1 instant retained, 2 savepoints dropped."""
    noun, _, past = name.rpartition("_") if name.endswith(("_retained", "_dropped", "_beyond")) else (name, "", "")
    singular = {"crashes": "crash", "lock_losses": "lock_loss", "retries": "retry"}
    word = singular.get(noun, noun.removesuffix("s"))
    plural = {one: many for many, one in singular.items()}.get(word, f"{word}s")
    return f"{count} {word if count == 1 else plural} {past}".replace("_", " ").rstrip()
