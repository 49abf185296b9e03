"""Tours: the fewest runs that together cover every edge of a graph, computed as a minimum flow.

Every run starts in the first state and may end in any state; the graph may have cycles. Some edges must be repeated,
because a state may have more outgoing than incoming edges. A maximum flow chooses the edges to repeat so that the
number of runs is minimal. An added edge from the end of each run to the first state makes the graph Eulerian. Cutting
an Eulerian circuit at the added edges yields the runs.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import networkx as nx


class Arrow(Protocol):
    """An edge from the state `before` to the state `after`. Parallel edges between two states are allowed."""

    @property
    def before(self) -> Hashable: ...
    @property
    def after(self) -> Hashable: ...


A = TypeVar("A", bound=Arrow)
BACK = "back"


def tours(edges: Sequence[A], first: Hashable) -> list[list[A]]:
    """Return the fewest runs from `first` that together cover every edge; runs with rare edges come first.

    An edge is rare if a random walk seldom takes it. Every edge must be reachable from `first`.
    """
    likely = _likely(edges, first)
    return sorted(_cut(_circuit(edges, first)), key=lambda run: min(likely[edge] for edge in run))


def _likely(edges: Sequence[A], first: Hashable) -> dict[A, float]:
    """Map each edge to an estimate of the probability that a uniform random walk takes it."""
    leaving = Counter(edge.before for edge in edges)
    reached: dict[Hashable, float] = {first: 1.0}
    found = {}
    for edge in edges:  # in search order most edges into a state come before those that leave it
        found[edge] = reached.get(edge.before, 0.0) / leaving[edge.before]
        reached[edge.after] = reached.get(edge.after, 0.0) + found[edge]
    return found


def _circuit(edges: Sequence[A], first: Hashable) -> Iterator[A | None]:
    """Yield the edges of a closed walk that covers every edge. The walk yields None where it jumps from the end of a
    run to the state `first`.
    """
    # Of parallel edges any one may be repeated, since all of them are covered once anyway.
    between: dict[tuple[Hashable, Hashable], A] = {(edge.before, edge.after): edge for edge in edges}
    graph: Any = nx.MultiDiGraph()
    for number, edge in enumerate(edges):
        graph.add_edge(edge.before, edge.after, key=number, edge=edge)
    for (before, after), times in _repetitions(edges, first).items():
        for number in range(times):
            graph.add_edge(before, after, key=f"again {number}", edge=between[before, after])
    for state in list(graph):
        for number in range(graph.in_degree(state) - graph.out_degree(state)):
            graph.add_edge(state, first, key=f"{BACK} {number}", edge=None)
    for before, after, key in nx.eulerian_circuit(graph, first, keys=True):
        yield graph.edges[before, after, key]["edge"]


def _cut(circuit: Iterator[A | None]) -> list[list[A]]:
    runs: list[list[A]] = [[]]
    for edge in circuit:
        if edge is None:
            runs.append([])
        else:
            runs[-1].append(edge)
    # The circuit may start within a run, if an edge of the graph leads back to the first state.
    runs[0] = [*runs.pop(), *runs[0]] if len(runs) > 1 else runs[0]
    return [run for run in runs if run]


def _repetitions(edges: Sequence[A], first: Hashable) -> Counter[tuple[Hashable, Hashable]]:
    """Map each pair of states to the number of extra times that the runs must take an edge from the first state to the
    second.
    """
    more = Counter(edge.after for edge in edges)  # entering minus leaving edges
    more.subtract(Counter(edge.before for edge in edges))
    # The flow goes through sets of nodes. Numbers have one order in all processes, so that all find the same runs.
    states = list(more)
    number = {state: place for place, state in enumerate(states)}
    source, sink = len(states), len(states) + 1
    graph: Any = nx.DiGraph()
    graph.add_nodes_from((source, sink))
    graph.add_edges_from(
        (number[edge.before], number[edge.after]) for edge in edges
    )  # without a capacity: any number of times
    for state, count in more.items():
        if count > 0:
            graph.add_edge(source, number[state], capacity=count)
        elif count < 0 and state != first:
            graph.add_edge(number[state], sink, capacity=-count)
    _, flow = nx.maximum_flow(graph, source, sink)
    again: Counter[tuple[Hashable, Hashable]] = Counter()
    for before, following in flow.items():
        for after, times in following.items():
            if times and before != source and after != sink:
                again[states[before], states[after]] += times
    paths = _Paths(edges, first)
    for state, count in more.items():
        if count < 0 and state != first:
            missing = -count - flow[number[state]][sink]
            again.update(dict.fromkeys(paths.to(state), missing))
    return +again


class _Paths:
    def __init__(self, edges: Sequence[Arrow], first: Hashable) -> None:
        following: dict[Hashable, list[Hashable]] = {}
        for edge in edges:
            following.setdefault(edge.before, []).append(edge.after)
        self._from: dict[Hashable, Hashable] = {first: None}
        queue = deque([first])
        while queue:
            state = queue.popleft()
            for after in following.get(state, ()):
                if after not in self._from:
                    self._from[after] = state
                    queue.append(after)

    def to(self, state: Hashable) -> Iterator[tuple[Hashable, Hashable]]:
        while (before := self._from[state]) is not None:
            yield before, state
            state = before
