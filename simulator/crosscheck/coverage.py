"""How much of a small world random histories have seen: the share of its edges, up to the names of equal actors.

The denominator is known, because the world is small enough to be explored; so a check can say what it did not cover.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import permutations, product
from typing import Any

from nbcc.model import Model, Protocol, State, Step, World

PINNED = World(
    actors={"writer": 2, "compactor": 1}, crashes=0, compactions=1, name="pinned", about="denominator of edge coverage"
)
"""Two writers with one log each and one compaction in one file group, where all of a late completion can happen."""

Edge = tuple[Any, ...]


class EdgeCoverage:
    """Collects the edges of histories in `PINNED`; edges that differ only in which equal actor moved are one."""

    def __init__(self) -> None:
        self._seen: set[Edge] = set()
        self._canonical: dict[tuple[State, Step], Edge] = {}

    def visit(self, model: Model, state: State, step: Step) -> None:
        """A history in the pinned world took this step."""
        edge = self._canonical.get((state, step))
        if edge is None:
            edge = self._canonical[state, step] = canonical_edge(model, state, step)
        self._seen.add(edge)

    def count(self) -> int:
        """How many edges were seen."""
        return len(self._seen)


@cache
def pinned_model(world: World, protocol: Protocol) -> Model:
    """The one model of the pinned world, as it was fitted to a system, so that its states mean the same in every
    history."""
    return Model(world, protocol)


@cache
def all_edges(world: World, protocol: Protocol) -> int:
    """How many edges the pinned world has, by looking at all of them."""
    model = pinned_model(world, protocol)
    seen, queue, edges = {model.initial}, deque([model.initial]), set()
    while queue:
        state = queue.popleft()
        for step, after in model.successors(state):
            edges.add(canonical_edge(model, state, step))
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return len(edges)


def canonical_edge(model: Model, state: State, step: Step) -> Edge:
    """The smallest of the edge's renamings."""
    values = {name: model.component(state, name) for name in model.components}
    return min((_renamed_edge(values, step, names) for names in _renamings(model)), key=repr)


def _renamed_edge(values: Mapping[str, Any], step: Step, names: Mapping[str, str]) -> Edge:
    components = sorted((names.get(name, name), repr(_renamed(value, names))) for name, value in values.items())
    return (tuple(components), names.get(step.actor, step.actor), step.action, step.args)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    return tuple(_renamed(part, names) for part in value) if isinstance(value, tuple) else value


def _renamings(model: Model) -> Iterator[Mapping[str, str]]:
    kinds = [actors for actors in model.actors.values() if actors]
    for orders in product(*(permutations(actors) for actors in kinds)):
        yield {
            old: new
            for actors, order in zip(kinds, orders, strict=True)
            for old, new in zip(actors, order, strict=True)
        }
