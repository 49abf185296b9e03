"""The graph of a world up to the names of exchangeable actors: what a tour walks and what coverage is a share of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nbcc.model import Model, State, Step

from .renaming import renamed_step
from .symmetry import Symmetry


class Edge(NamedTuple):
    """A step from a kept state to a kept state; of steps that differ in names alone one stands for all."""

    before: State
    step: Step
    after: State


class Quotient:
    """One state for all that differ in exchangeable names, one edge for all steps that do."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.symmetry = Symmetry(model)
        self.first = self.symmetry.kept(model.initial)

    def edge(self, state: State, step: Step, after: State) -> Edge:
        """What stands for a step of the model."""
        # Of the renamings that lead to the kept state each gives the step a name; the smallest is the same for all.
        names = min(renamed_step(step, renaming) for renaming in self.symmetry.renamings(state))
        return Edge(self.symmetry.kept(state), names, self.symmetry.kept(after))

    def from_state(self, state: State) -> Iterator[Edge]:
        """The edges that leave a state."""
        found = (self.edge(state, step, after) for step, after in self.model.successors(state))
        yield from dict.fromkeys(found)

    def edges(self) -> list[Edge]:
        """Every edge there is, in the order of a breadth-first search."""
        seen, queue, found = {self.first}, [self.first], list[Edge]()
        for state in queue:
            for edge in self.from_state(state):
                found.append(edge)
                if edge.after not in seen:
                    seen.add(edge.after)
                    queue.append(edge.after)
        return found

    def run(self, edges: Sequence[Edge]) -> Iterator[Step]:
        """The steps of a run of the model that takes these edges, which must begin in the first state."""
        state = self.model.initial
        for edge in edges:
            step, state = next(
                (step, after) for step, after in self.model.successors(state) if self.edge(state, step, after) == edge
            )
            yield step
