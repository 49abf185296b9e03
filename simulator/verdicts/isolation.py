"""The isolation level of every protocol: which anomalies are possible, and in how many steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nbcc.model import Model, Protocol, World
from nbcc.model.promises.isolation import ANOMALIES

from ..explore import Verdict, explore
from .judge import MatrixRow

UPDATES: Final = World(actors={"writer": 2})
"""Two writers that read, modify and write one file group."""
SKEWED: Final = World(
    actors={"writer": 2},
    partitions=2,
    writes={("w1", 1): (1, 0), ("w2", 1): (0, 1)},
    reads={("w1", 1): (0, 1), ("w2", 1): (0, 1)},
)
"""Two writers that read both of two partitions and write one of them each."""
REREADS: Final = ("non-repeatable read", "phantom read")
"""Anomalies that are searched only in worlds with one file group, where they show if anywhere."""


def anomalies_in(world: World, protocol: Protocol) -> Mapping[str, int]:
    """Possible anomaly -> the steps of a shortest run to it."""
    asked = [each for each in ANOMALIES.values() if world.groups == 1 or each.name not in REREADS]
    found = explore(Model(world, protocol), asked).promises
    return {name: each.steps or 0 for name, each in found.items() if each.verdict is Verdict.VIOLATED}


def table(rows: Sequence[MatrixRow]) -> Iterator[str]:
    """The section of the page, with a line for each protocol."""
    yield from ("## Isolation", "")
    yield "Two writers update one file group, or read two partitions and write one each. A write reads the table when"
    yield "it begins. A number is the length of a shortest run with the anomaly; *no*: there is none."
    yield from ("", f"| protocol | {' | '.join(ANOMALIES)} |", f"|---|{'---|' * len(ANOMALIES)}")
    for row in rows:
        found = [anomalies_in(world, row.file.protocol) for world in (UPDATES, SKEWED)]
        steps = {name: min((each[name] for each in found if name in each), default=0) for name in ANOMALIES}
        yield f"| {row.name} | {' | '.join(f'**{n}**' if n else 'no' for n in steps.values())} |"
    yield ""
