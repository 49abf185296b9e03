"""The quotient graph of a world: states that differ only in the names of exchangeable actors count as one state. Edge
coverage and tours are computed on the quotient graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nbcc.model import Model, State, Step

from .renaming import renamed_step
from .symmetry import Symmetry


class Edge(NamedTuple):
    """A step between canonical states. Steps that differ only in the names of exchangeable actors are the same edge."""

    before: State
    step: Step
    after: State


class Quotient:
    """The state graph of a model, in which each state represents all states that differ only in the names of
    exchangeable actors.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.symmetry = Symmetry(model)
        self.first = self.symmetry.canonical(model.initial)

    def edge(self, state: State, step: Step, after: State) -> Edge:
        """Return the edge of the quotient graph that represents a step of the model."""
        # Several renamings may lead to the canonical state. The smallest step among their images is unique.
        names = min(renamed_step(step, renaming) for renaming in self.symmetry.renamings(state))
        return Edge(self.symmetry.canonical(state), names, self.symmetry.canonical(after))

    def from_state(self, state: State) -> Iterator[Edge]:
        """Yield the edges that leave a canonical state."""
        found = (self.edge(state, step, after) for step, after in self.model.successors(state))
        # Symmetric steps are the same edge. A dictionary keeps their order, which a set does not.
        yield from dict.fromkeys(found)

    def edges(self) -> list[Edge]:
        """Return all edges, in the order of a breadth-first search."""
        seen, queue, found = {self.first}, [self.first], list[Edge]()
        for state in queue:
            for edge in self.from_state(state):
                found.append(edge)
                if edge.after not in seen:
                    seen.add(edge.after)
                    queue.append(edge.after)
        return found

    def run(self, edges: Sequence[Edge]) -> Iterator[Step]:
        """Yield the steps of a run of the model that starts in the initial state. The run takes one step for each of
        the given edges of the quotient graph.
        """
        state = self.model.initial
        for edge in edges:
            step, state = next(
                (step, after) for step, after in self.model.successors(state) if self.edge(state, step, after) == edge
            )
            yield step
