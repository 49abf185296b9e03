"""The isolation level of a protocol: the possible anomalies, and the fewest steps to each anomaly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from nbcc.model import Model, Protocol, World
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.occ.conflicts import Occ
from nbcc.model.promises.isolation import ANOMALIES
from nbcc.model.world import crew

from ..explore import Verdict, explore

UPDATES: Final = World(actors=crew(WRITER, WRITER))
"""Two writers that read, modify and write one file group."""
SKEWED: Final = World(
    actors=crew(WRITER, WRITER),
    partitions=2,
    writes={("w1", 1): (1, 0), ("w2", 1): (0, 1)},
    reads={("w1", 1): (0, 1), ("w2", 1): (0, 1)},
)
"""Two writers that read both of two partitions and write one of them each."""
LONG: Final = World(
    actors=crew(WRITER, WRITER, WRITER),
    buckets=2,
    writes={("w1", 1): (1, 0), ("w2", 1): (0, 1), ("w3", 1): (1, 0)},
)
"""A long write, a short one elsewhere, and a third write in the file group of the long one. A conflict check by the
order of requests misses the long one only if another write has completed before the third began."""
REREADS: Final = ("non-repeatable read", "phantom read")
"""Anomalies that are searched only in worlds with one file group, where they show if anywhere."""


def anomalies_in(world: World, protocol: Protocol) -> Mapping[str, int]:
    """Map each anomaly that is possible in a world to the length of a shortest run with this anomaly."""
    # A read is repeated as of one time, in each file group by itself.
    searched = [each for each in ANOMALIES.values() if world.groups == 1 or each.name not in REREADS]
    results = explore(Model(world, protocol), searched, until_all_broken=True).promises
    return {name: each.steps or 0 for name, each in results.items() if each.verdict is Verdict.VIOLATED}


def anomalies(protocol: Protocol) -> dict[str, int]:
    """Map each anomaly that the protocol allows to the length of a shortest run that shows it. The result is in the
    order of `ANOMALIES`.
    """
    # Writers that check nothing lose an update in the smallest world already.
    worlds = (UPDATES, SKEWED, LONG) if protocol[Occ].concurrency == "occ" else (UPDATES, SKEWED)
    return shortest([anomalies_in(world, protocol) for world in worlds])


def shortest(possible: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the least number of steps to each anomaly that is possible in one of several worlds."""
    steps = {name: min((each[name] for each in possible if name in each), default=0) for name in ANOMALIES}
    return {name: least for name, least in steps.items() if least}
