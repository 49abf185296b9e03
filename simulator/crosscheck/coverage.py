"""The coverage of a small world: the share of the world's edges (steps between states) that random histories took.

The world is small enough for a complete search. The total number of edges is known, so a check can report how many
edges its histories did not take.
"""

from __future__ import annotations

from functools import cache

from nbcc.model import Model, Protocol, State, Step, World

from ..explore.quotient import Edge, Quotient

PINNED = World(
    actors={"writer": 2, "compactor": 1}, crashes=0, compactions=1, name="pinned", about="denominator of edge coverage"
)
"""Two writers with one log each and one compaction in one file group: every case of a late completion occurs."""


class EdgeCoverage:
    """Collects the edges of histories in one world. Edges that differ only in the names of interchangeable actors are
    counted once.
    """

    def __init__(self) -> None:
        self._steps: set[tuple[State, Step]] = set()
        self._seen: set[Edge] = set()

    def visit(self, quotient: Quotient, state: State, step: Step) -> None:
        """Record a step of a history."""
        if (state, step) not in self._steps:
            self._steps.add((state, step))
            self._seen.add(quotient.edge(state, step, quotient.model.apply(state, step)))

    def count(self) -> int:
        """Return the number of edges taken so far."""
        return len(self._seen)


@cache
def pinned(world: World, protocol: Protocol) -> Quotient:
    """Return the state graph of the pinned world (a world with fixed actors and limits). The graph is cached, so that
    each state has the same encoding in every history.
    """
    return Quotient(Model(world, protocol))


@cache
def all_edges(world: World, protocol: Protocol) -> int:
    """Return the number of edges of the pinned world, computed by exploring the world."""
    return len(pinned(world, protocol).edges())
