"""The bound of a world (configuration of a search): the numbers of writers, file groups and so on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nbcc.model import World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER

Bound = Mapping[str, int]
"""Dimension -> size: the kinds of actors, and the limits of the world that are numbers."""

DATA: Final = ("keys", "orderings")
"""These are not dimensions: promises are judged for one key with every valuation, and reads are independent by key."""
NEEDS: Final = {"compactions": COMPACTOR.name}
"""Limits that matter only if the world has this kind of actor."""
LEAST: Final = {"log_versions": 1, "groups": 1, "writes_per_writer": 1}
"""Dimensions with the size that every world has."""


def bound_of(world: World) -> dict[str, int]:
    """Return the bound of a world: its numbers of writers, file groups and so on. The bound ignores the individual
    writes that `world.writes` describes.
    """
    actors = {kind: count for kind, count in world.actors.items() if count}
    numbers = {name: value for name, value in world.flat().items() if type(value) is int}
    found = {**actors, "groups": world.groups, **numbers}
    # A limit of actors that are not there would make two equal searches look different.
    idle = [limit for limit, kind in NEEDS.items() if kind not in actors]
    return {name: n for name, n in found.items() if n and name not in (*DATA, "buckets", "partitions", *idle)}


def covers(one: Bound, other: Bound) -> bool:
    return all(one.get(name, 0) >= count for name, count in other.items())


def exceeds(one: Bound, other: Bound) -> bool:
    """True if the first bound is at least as large as the second in every dimension, and larger in some dimension."""
    # Not by a sum: a bound with more writers and fewer crashes shows nothing about crashes.
    return covers(one, other) and not covers(other, one)


def sentence(bound: Bound) -> str:
    """Return the bound as a phrase such as "2 writers × 1 write, 1 compactor × 2 compactions, 2 groups, 1 crash"."""
    sizes = dict(bound)
    words = []
    for name, limit in ((WRITER.name, "writes_per_writer"), (COMPACTOR.name, "compactions")):
        if count := sizes.pop(name, 0):
            words.append(f"{_many(count, name)} × {_many(sizes.pop(limit, 1), _of(limit))}")
        else:
            sizes.pop(limit, None)
    words += [_many(n, name) for name, n in sizes.items() if name in ("groups",) or n != LEAST.get(name)]
    return ", ".join(words)


def _of(limit: str) -> str:
    return limit.partition("_per_")[0]


def _many(count: int, name: str) -> str:
    noun, _, past = name.rpartition("_") if name.endswith(("_retained", "_dropped", "_beyond")) else (name, "", "")
    singular = {"crashes": "crash", "lock_losses": "lock_loss", "retries": "retry", "endless": "endless run"}
    word = singular.get(noun, noun.removesuffix("s"))
    plural = {one: many for many, one in singular.items()}.get(word, f"{word}s")
    return f"{count} {word if count == 1 else plural} {past}".replace("_", " ").rstrip()
