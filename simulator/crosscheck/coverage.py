"""How much of a small world random histories have seen: the share of its edges, up to the names of equal actors.

The denominator is known, because the world is small enough to be explored; so a check can say what it did not cover.
"""

from __future__ import annotations

from functools import cache

from nbcc.model import Model, Protocol, State, Step, World

from ..explore.quotient import Edge, Quotient

PINNED = World(
    actors={"writer": 2, "compactor": 1}, crashes=0, compactions=1, name="pinned", about="denominator of edge coverage"
)
"""Two writers with one log each and one compaction in one file group, where all of a late completion can happen."""


class EdgeCoverage:
    """Collects the edges of histories in one world; edges that differ only in which equal actor moved are one."""

    def __init__(self) -> None:
        self._steps: set[tuple[State, Step]] = set()
        self._seen: set[Edge] = set()

    def visit(self, quotient: Quotient, state: State, step: Step) -> None:
        """A history took this step."""
        if (state, step) not in self._steps:
            self._steps.add((state, step))
            self._seen.add(quotient.edge(state, step, quotient.model.apply(state, step)))

    def count(self) -> int:
        """How many edges were seen."""
        return len(self._seen)


@cache
def pinned(world: World, protocol: Protocol) -> Quotient:
    """The one graph of the pinned world, as it was fitted to a system, so that its states mean the same in every
    history."""
    return Quotient(Model(world, protocol))


@cache
def all_edges(world: World, protocol: Protocol) -> int:
    """How many edges the pinned world has, by looking at all of them."""
    return len(pinned(world, protocol).edges())
