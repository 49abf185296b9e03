"""Liveness on small graphs whose answer is plain, and on the model: what must happen, and what only a limit ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import pytest

from nbcc.model import Model, Protocol
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.explore.components import components


class Move(NamedTuple):
    actor: str
    action: str
    args: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Graph:
    """States are numbers from 0; an edge is (from, to, who). `goal` are the states in which nothing is outstanding."""

    edges: tuple[tuple[int, int, str], ...]
    goal: frozenset[int] = field(default_factory=frozenset)
    initial: int = 0

    def successors(self, state: int) -> Iterator[tuple[Move, int]]:
        return ((Move(who, "moves"), there) for here, there, who in self.edges if here == state)


class Reach(NamedTuple):
    """The goal is reached eventually; the actor `env` need not be fair; in states below `limit` a limit is to blame."""

    limit: int = 0
    name: str = "REACH"
    kind: str = "run"

    @staticmethod
    def sometimes(graph: Graph, state: int) -> bool:
        return True

    @staticmethod
    def outstanding(graph: Graph, state: int) -> dict[str, str]:
        return {} if state in graph.goal else {"goal": "the goal is never reached"}

    def limited(self, graph: Graph, state: int) -> str:
        return "a" if state < self.limit else ""

    @staticmethod
    def fair(graph: Graph, step: Move) -> bool:
        return step.actor != "env"


END = "no step is possible any more, and the goal is never reached"
ROUND = "permanently, and the goal is never reached"
GRAPHS = {
    "ends at the goal": (Graph(((0, 1, "a"),), frozenset({1})), None),
    "ends short of it": (Graph(((0, 1, "a"), (0, 2, "a")), frozenset({1})), END),
    "goes round short of it": (Graph(((0, 1, "a"), (1, 0, "a"))), ROUND),
    "goes round through it": (Graph(((0, 1, "a"), (1, 0, "a")), frozenset({1})), None),
    "the way out is always possible": (
        Graph(((0, 1, "a"), (1, 0, "a"), (0, 2, "b"), (1, 2, "b")), frozenset({2})), None,
    ),
    "the way out is possible now and then": (
        Graph(((0, 1, "a"), (1, 0, "a"), (0, 2, "b")), frozenset({2})), ROUND,
    ),
    "the way out is possible now and then, and leads back": (
        Graph(((0, 1, "a"), (1, 0, "a"), (0, 2, "b"), (2, 0, "a")), frozenset({2})), ROUND,
    ),
    "the way out is always possible, and leads back": (
        Graph(((0, 1, "a"), (1, 0, "a"), (0, 2, "b"), (1, 2, "b"), (2, 0, "a")), frozenset({2})), None,
    ),
    "no fair actor takes the way out": (
        Graph(((0, 1, "a"), (1, 0, "a"), (0, 2, "env"), (1, 2, "env")), frozenset({2})), ROUND,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_whose_answer_is_plain(name: str) -> None:
    graph, because = GRAPHS[name]
    found = explore(graph, [Reach()]).promises["REACH"]

    assert found.verdict is (Verdict.VIOLATED if because else Verdict.HOLDS)
    assert (found.because or "").endswith(because or "")
    assert (found.trace is None) == (because is None)
    assert (found.cycle > 0) == (because == ROUND)
    if found.cycle:
        assert run_of(graph, found.trace or ())[-1 - found.cycle] == run_of(graph, found.trace or ())[-1]


def run_of(graph: Graph, moves: tuple[Move, ...]) -> list[int]:
    """States of a run. Moves of one actor are alike, so that a run may have several; any that closes is taken."""
    runs = [[graph.initial]]
    for move in moves:
        runs = [[*run, there] for run in runs for step, there in graph.successors(run[-1]) if step == move]
    return max(runs, key=lambda run: run[-1] in run[:-1])


def test_an_end_that_only_a_limit_makes_is_undetermined() -> None:
    found = explore(GRAPHS["ends short of it"][0], [Reach(limit=9)]).promises["REACH"]

    assert found.verdict is Verdict.UNDETERMINED
    assert found.because == "the goal is never reached, and a limit of the world keeps a from acting"


@pytest.mark.parametrize("seed", range(20))
def test_components_are_those_of_mutual_reach(seed: int) -> None:
    dice = Random(seed)
    size = dice.randint(2, 12)
    # A line through all states, so that all are reached, and some edges to anywhere.
    edges = [(i, i + 1, "a") for i in range(size - 1)]
    edges += [(dice.randrange(size), dice.randrange(size), "a") for _ in range(dice.randint(0, size))]
    states = list(range(size))
    found = components(lambda state: (after for before, after, _ in edges if before == state), size)
    reach = {state: reached(edges, state) for state in states}

    assert {frozenset(each) for each in found} == {
        frozenset(o for o in states if o == s or (o in reach[s] and s in reach[o])) for s in states
    }


@pytest.mark.parametrize("seed", range(30))
def test_a_run_that_goes_round_is_found_wherever_it_goes(seed: int) -> None:
    """Held against a look at every set of states that a run may stay in."""
    dice = Random(seed)
    size = dice.randint(2, 5)
    edges = [(i, i + 1, dice.choice(("a", "b", "env"))) for i in range(size - 1)]
    edges += [(dice.randrange(size), dice.randrange(size), dice.choice("abc")) for _ in range(size + 1)]
    goal = frozenset(state for state in range(size) if dice.random() < 1 / 3)
    graph = Graph(tuple(edges), goal)
    short = frozenset(range(size)) - goal
    stuck = any(here not in {each[0] for each in edges} for here in short)
    some = (set(each) for count in range(1, size + 1) for each in combinations(sorted(short), count))
    goes_round = any(can_stay(edges, each) for each in some)

    found = explore(graph, [Reach()]).promises["REACH"]
    assert (found.verdict is Verdict.VIOLATED) == (stuck or goes_round)


def can_stay(edges: list[tuple[int, int, str]], inside: set[int]) -> bool:
    """Whether a fair run can go round in exactly these states permanently, by all steps among them."""
    within = [each for each in edges if {each[0], each[1]} <= inside]
    if not within or any(reached(within, state) != inside for state in inside):
        return False
    always = set.intersection(*({who for here, _, who in edges if here == state} for state in inside)) - {"env"}
    return always <= {who for _, _, who in within}


def reached(edges: list[tuple[int, int, str]], start: int) -> set[int]:
    seen, todo = set[int](), [start]
    while todo:
        for here, there, _ in edges:
            if here == todo[-1] and there not in seen:
                seen.add(there)
                todo.insert(0, there)
        todo.pop()
    return seen


CRASH = specs.world("crash_resume")


@pytest.mark.parametrize(
    ("actors", "protocol", "verdict"),
    [
        ({"writer": 1, "compactor": 2}, Protocol(), Verdict.HOLDS),
        ({"writer": 1, "compactor": 1}, Protocol(), Verdict.HOLDS),  # no live actor must complete the plan
        ({"writer": 2}, Protocol(), Verdict.HOLDS),
        ({"writer": 2}, Protocol(lock_expiry="never"), Verdict.VIOLATED),
        ({"writer": 1}, Protocol(lock_expiry="never"), Verdict.HOLDS),  # the dead wait for nothing
    ],
)
@pytest.mark.parametrize("reduced", [True, False])
def test_what_is_owed_to_whom(actors: dict[str, int], protocol: Protocol, verdict: Verdict, reduced: bool) -> None:
    model = Model(CRASH.replace(actors=actors), protocol)

    assert explore(model, [PROMISES["PROGRESS"]], reduce=reduced).promises["PROGRESS"].verdict is verdict


SERVICES = {
    "compactor_resumes_plan": ({"writer": 1, "compactor": 2}, {}, "the compaction planned"),
    "log_compactor_resumes_plan": (
        {"writer": 1, "log_compactor": 2}, {"writes_per_writer": 2, "log_compactions": 1}, "the log compaction planned",
    ),
    "cleaner_resumes_clean": (
        {"writer": 1, "compactor": 1, "cleaner": 2},
        {"writes_per_writer": 2, "compactions": 2, "cleans": 1, "commits_retained": 1}, "the clean planned",
    ),
    "rollbacker_resumes_rollback": (
        {"writer": 1, "rollbacker": 2}, {"crashes": 2, "rollbacks": 1}, "the rollback planned",
    ),
    "restorer_resumes_restore": (
        {"writer": 1, "savepointer": 1, "restorer": 2},
        {"writes_per_writer": 2, "savepoints": 1, "restores": 1}, "the restore planned",
    ),
}  # fmt: skip


@pytest.mark.parametrize("action", SERVICES)
def test_plans_of_dead_actors_that_no_actor_resumes_are_found(action: str) -> None:
    """A model without the row that takes them up: another is alive that would, so the plan must complete."""
    actors, limits, plan = SERVICES[action]
    model = Model(CRASH.replace(actors=actors, **limits))
    rows = [row for row in model.transitions if row.action != action]
    assert len(rows) < len(model.transitions)
    model.stepper = type(model.stepper)(model.coding, rows)
    found: Any = explore(model, [PROMISES["PROGRESS"]]).promises["PROGRESS"]

    assert found.verdict is Verdict.VIOLATED
    assert plan in found.because
