"""Tours: every edge is taken, by as few runs as can be; the runs are runs of the model."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations, islice, pairwise
from typing import NamedTuple

import pytest

from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore
from nbcc.simulator.search.explore.quotient import Edge, Quotient
from nbcc.simulator.search.explore.renaming import renamed_state, renamed_step
from nbcc.simulator.search.explore.tours import tours
from tests.builders.reachable import reachable

from .pins import pairs

WORLDS = ("demo", "occ_retry", "cleaning_crash")


class Arrow(NamedTuple):
    before: int
    after: int
    name: str = ""


def graph_of(seed: int) -> list[Arrow]:
    """A small random graph without cycles in which every state is reached from 0, some edges double."""
    draw = random.Random(seed)
    size = 2 + draw.randrange(5)
    edges = [Arrow(draw.randrange(after), after, "tree") for after in range(1, size)]
    for number in range(draw.randrange(6)):
        before, after = sorted(draw.sample(range(size), 2))
        edges.append(Arrow(before, after, f"{number}"))
    return sorted(edges)


def apart(edges: list[Arrow]) -> int:
    """The most edges of which no run takes two: so many runs are needed, and without cycles so many are enough."""
    reach = {(edge.before, edge.after) for edge in edges} | {
        (n, n) for edge in edges for n in (edge.before, edge.after)
    }
    for middle in range(max(edge.after for edge in edges) + 1):
        reach |= {(a, d) for a, b in reach for c, d in reach if b == middle == c}
    for count in range(len(edges), 0, -1):
        for some in combinations(edges, count):
            if not any((a.after, b.before) in reach or (b.after, a.before) in reach for a, b in combinations(some, 2)):
                return count
    return 0


def is_run(run: Sequence[Arrow | Edge], first: object) -> bool:
    return run[0].before == first and all(a.after == b.before for a, b in pairwise(run))


@pytest.mark.parametrize("seed", range(60))
def test_no_fewer_runs_take_every_edge(seed: int) -> None:
    edges = graph_of(seed)
    runs = tours(edges, 0)

    assert all(is_run(run, 0) for run in runs)
    assert {edge for run in runs for edge in run} == set(edges)
    assert len(runs) == apart(edges)


def test_a_cycle_is_gone_round_in_one_run() -> None:
    edges = [Arrow(0, 1), Arrow(1, 2), Arrow(2, 1), Arrow(1, 0), Arrow(2, 3)]
    runs = tours(edges, 0)

    assert all(is_run(run, 0) for run in runs)
    assert {edge for run in runs for edge in run} == set(edges)
    assert len(runs) == 1


def test_the_rarest_edge_comes_first() -> None:
    edges = [Arrow(0, 1), Arrow(0, 2), Arrow(2, 3), Arrow(2, 4), Arrow(2, 5)]
    assert [len(run) for run in tours(edges, 0)] == [2, 2, 2, 1]


@pytest.mark.parametrize("name", WORLDS)
def test_the_graph_has_every_step_of_the_model(name: str) -> None:
    """Counted another way: every step of every state of the model has an edge, and none has two."""
    model = specs.system(name)
    quotient = Quotient(model)
    edges = quotient.edges()
    states = reachable(model)
    found = {quotient.edge(state, step, after) for state in states for step, after in model.successors(state)}

    assert len(edges) == len(set(edges))
    assert set(edges) == found
    assert len(states) == explore(model).distinct


@pytest.mark.parametrize("name", ["demo", "cleaning_crash"])
def test_steps_that_differ_in_names_alone_are_one_edge(name: str) -> None:
    model = specs.system(name)
    quotient = Quotient(model)
    queue, together = [model.initial], set()
    for state in islice(queue, 300):
        for step, after in model.successors(state):
            queue.append(after)
            edge = quotient.edge(state, step, after)
            for names in pairs(model):
                before, then = (renamed_state(model, each, names) for each in (state, after))
                assert quotient.edge(before, renamed_step(step, names), then) == edge
                together.add(before != state)
    assert together == {True, False}


@pytest.mark.parametrize("name", ["demo", "cleaning_crash"])
def test_a_tour_is_made_of_runs_of_the_model(name: str) -> None:
    model = specs.system(name)
    quotient = Quotient(model)
    for run in tours(quotient.edges(), quotient.first):
        state = model.initial
        for step in quotient.run(run):
            state = model.apply(state, step)
        assert quotient.symmetry.canonical(state) == run[-1].after


def test_every_process_finds_the_same_runs() -> None:
    """`nbcc fill` names its vectors by their places among these runs."""
    program = (
        "from nbcc.model import Model, Protocol; from nbcc.simulator import specs;"
        "from nbcc.simulator.search.explore.quotient import Quotient;"
        "from nbcc.simulator.search.explore.tours import tours;"
        "graph = Quotient(Model(specs.world('rollback_beside_compaction'), Protocol()));"
        "print([[*graph.run(run)] for run in tours(graph.edges(), graph.first)])"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in "01"
    )
    assert first == second
