"""Measures edge coverage: how many transitions of a small state graph are taken by random histories.

The measured world (two writers and a compactor) is small enough for a complete search, so its number of transitions is
known.
"""

from __future__ import annotations

from functools import cache

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.world import crew

from ...search.explore.quotient import Edge, Quotient

PINNED = World(
    actors=crew(WRITER, WRITER, COMPACTOR), crashes=0, compactions=1,
    name="pinned", about="denominator of edge coverage",
)  # fmt: skip
"""Two writers with one log each and one compaction in one file group: every case of a late completion occurs."""


class EdgeCoverage:
    """Collects the state-graph edges that histories of one world have covered. Edges that differ only in the names of
    interchangeable actors are counted once.
    """

    def __init__(self) -> None:
        self._steps: set[tuple[State, Step]] = set()
        self._seen: set[Edge] = set()

    def visit(self, quotient: Quotient, state: State, step: Step) -> None:
        """Count the transition ``step`` from ``state`` as taken."""
        # A look into a set is far cheaper than the edge, which takes a canonical form of both states.
        if (state, step) not in self._steps:
            self._steps.add((state, step))
            self._seen.add(quotient.edge(state, step, quotient.model.apply(state, step)))

    def count(self) -> int:
        """Return the number of edges taken so far."""
        return len(self._seen)


def pinned(world: World, protocol: Protocol) -> Quotient:
    """Return the state graph over which the edge coverage of a check is measured. All histories share one cached graph,
    so that equal states have equal codes.
    """
    return _of_name(world, protocol, world.name)


@cache
def _of_name(world: World, protocol: Protocol, name: str) -> Quotient:
    """Return the graph of a world; equal worlds may differ in their names, which a disagreement prints."""
    return Quotient(Model(world, protocol))


@cache
def all_edges(world: World, protocol: Protocol) -> int:
    """Return the number of edges in the world's state graph, after exploring the whole graph."""
    return len(pinned(world, protocol).edges())
