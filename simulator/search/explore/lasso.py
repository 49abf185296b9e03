"""Lassos: counterexamples of liveness promises. A lasso is a run that ends in a cycle, which repeats forever.

A promise about whole runs is violated if a fair run can remain permanently in states after each of which the same event
must still occur. (The module `ends` judges the runs that end.) In a finite graph, every run ends or finally stays in
one strongly connected component. If a weakly fair action is possible in all states of the component, and no step in the
component takes it, a fair run leaves the component. If no step in the component takes a strongly fair action, a fair
run finally avoids the states in which the action is possible. `_fair_within` finds the sets of states in which a fair
run can remain.

Fairness is defined for runs of the original system. After a search with symmetry reduction, each canonical state on a
cycle is therefore replaced with all original states that it represents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Any, NamedTuple

from .components import components
from .renaming import Renaming, renamed_state
from .space import Space

MOST_UNFOLDED = 1_000_000
"""States up to which the cycles of a reduced search are unfolded."""

Action = tuple[str, str]
"""(actor, action), or (actor, ANY)."""
ANY = ""
"""Any fair action of an actor: an actor that can always act does so, even if its possible actions change."""
Path = tuple[tuple[Any, Any], ...]
"""Steps, each with the state after it."""


class Lasso(NamedTuple):
    """A run whose last `cycle` steps repeat forever. `because` is the reason for the violation: it describes the
    required events that never occur in the run.
    """

    because: str
    steps: tuple[Any, ...]
    cycle: int


class Graph(NamedTuple):
    """A part of a system's state graph: some states, and the steps between them. `numbers` maps each state to its index
    in `states`.
    """

    space: Space
    states: Sequence[Any]
    numbers: dict[Any, int]
    promise: Any

    def edges(self, number: int) -> Iterator[tuple[Any, int | None]]:
        """Yield each step from a state, with the number of the next state, or with None if the next state is not in
        `states`.
        """
        for step, after in self.space.successors(self.states[number]):
            yield step, self.numbers.get(after)

    def fair_actions(self, number: int) -> dict[Action, bool]:
        """Return the actions that are possible in a state and for which the promise assumes fairness. An action's value
        is True for strong fairness, False for weak fairness.
        """
        system = self.space.system
        is_strong: Callable[..., bool] = getattr(self.promise, "often", lambda system, step: False)
        found: dict[Action, bool] = {}
        for step, _ in self.edges(number):
            if self.promise.fair(system, step):
                found |= {(step.actor, step.action): is_strong(system, step), (step.actor, ANY): False}
        return found

    def taken(self, step: Any) -> set[Action]:
        """Return the keys of a step in `fair_actions`: its action, and ANY for all actions of its actor. The result is
        empty if the promise makes no fairness assumption about the step.
        """
        fair = self.promise.fair(self.space.system, step)
        return {(step.actor, step.action), (step.actor, ANY)} if fair else set()


def find_lasso(search: Any, promise: Any) -> Lasso | str | None:
    """Return a fair lasso (a run that ends in a cycle) that violates a liveness promise, or None if there is none. If
    the cycles have too many states to decide this, return a message.
    """
    space = search.space
    on_cycles: list[int] = search.on_cycles
    if space.about:
        most = prod(factorial(len(each)) for each in space.exchangeable) * len(on_cycles)
        if most > MOST_UNFOLDED:
            return f"runs can cycle, and the cycles have {most:,} states without reductions: use --no-reduction"
        images = (_images(space, search.states[number]) for number in on_cycles)
        states = tuple(dict.fromkeys(chain.from_iterable(images)))
    else:
        cyclic = frozenset(on_cycles)
        states = tuple(state for number, state in enumerate(search.states) if number in cyclic)
    plain = Space(space.system)
    graph = Graph(plain, states, {state: number for number, state in enumerate(states)}, promise)
    fair = list(_fair_cycles(graph))
    return _lasso(search, graph, fair) if fair else None


def _images(space: Space, state: Any) -> Iterator[Any]:
    classes = [list(permutations(each)) for each in space.exchangeable]
    ends = [state]
    for changes in space.private_runs(state):
        ends = [end + change for end in ends for change in changes]
    for images in product(*classes):
        names: Renaming = {
            old: new for each, image in zip(space.exchangeable, images, strict=True)
            for old, new in zip(each, image, strict=True)
        }  # fmt: skip
        for end in ends:
            yield renamed_state(space.system, end, names) if names else end


def _fair_cycles(graph: Graph) -> Iterator[frozenset[int]]:
    """Yield each set of states in which a fair run can remain forever while a required event never occurs."""
    where: dict[str, set[int]] = {}
    for number, state in enumerate(graph.states):
        for name in graph.promise.outstanding(graph.space.system, state):
            where.setdefault(name, set()).add(number)
    # Sorted, so that the same lasso is reported in each run.
    for name in sorted(where):
        yield from _fair_within(graph, where[name])


def _fair_within(graph: Graph, inside: set[int]) -> Iterator[frozenset[int]]:
    for each in components(lambda number: (after for _, after in graph.edges(number)), len(graph.states), inside):
        part = set(each)
        steps = [step for number in part for step, after in graph.edges(number) if after in part]
        if not steps:
            continue
        taken = set[Action]().union(*map(graph.taken, steps))
        able = {number: graph.fair_actions(number) for number in part}
        missed = {action for actions in able.values() for action, is_strong in actions.items() if is_strong} - taken
        if missed:  # a fair run avoids the states in which such an action is possible
            yield from _fair_within(graph, {number for number in part if not missed & able[number].keys()})
        elif not set.intersection(*(set(actions) for actions in able.values())) - taken:
            yield frozenset(part)


def _lasso(search: Any, graph: Graph, fair: Sequence[frozenset[int]]) -> Lasso:
    space, numbers = search.space, search.numbers
    places = {
        place: number for number in frozenset().union(*fair)
        if (place := numbers.get(space.canonical(graph.states[number]) if space.canonical else graph.states[number]))
        is not None
    }  # fmt: skip
    # The least number has one of the shortest ways to it.
    taken, state = space.walk(search.chain(min(places)))
    start = graph.numbers[state]  # an image of a fair cycle, which is a fair cycle itself
    part = next(each for each in fair if start in each)
    path = _around(graph, part, start)
    because = never(graph.promise, space.system, [each for _, each in path])
    assert because is not None, "an event is outstanding in every state of a fair cycle"
    return Lasso(because, (*taken, *(step for step, _ in path)), len(path))


def never(promise: Any, system: Any, cycle: Sequence[Any]) -> str | None:
    """Return a message about the required events that never occur on a cycle, or None if every event occurs."""
    left = [promise.outstanding(system, state) for state in cycle]
    common = sorted(set.intersection(*(set(each) for each in left)))
    steps = f"its last {len(cycle)} steps" if len(cycle) > 1 else "its last step"
    return f"a run can repeat {steps} permanently, and {'; '.join(left[0][n] for n in common)}" if common else None


def _around(graph: Graph, part: frozenset[int], start: int) -> Path:
    """Return a cycle through states of `part` that starts and ends at `start`. A run that repeats this cycle forever is
    fair.
    """
    path: list[tuple[Any, Any]] = []
    visited, at = [start], start
    while True:
        able = [graph.fair_actions(number) for number in visited]
        done = set[Action]().union(*(graph.taken(step) for step, _ in path))
        always_possible = set.intersection(*(set(actions) for actions in able)) - done
        strongly_fair = {action for actions in able for action, is_strong in actions.items() if is_strong} - done
        if path and at == start and not always_possible and not strongly_fair:
            return tuple(path)
        # Strong fairness first: only steps that are taken meet it, while weak fairness also ends where an action is
        # impossible.
        unmet = strongly_fair or always_possible
        wanted = min(unmet) if path and unmet else None

        def reached(
            step: Any, after: int, wanted: Action | None = wanted, must_take: bool = bool(strongly_fair)
        ) -> bool:  # fmt: skip
            if wanted is None:
                return after == start
            return wanted in graph.taken(step) or (not must_take and wanted not in graph.fair_actions(after))

        for step, after in _shortest(graph, part, at, reached):
            path.append((step, graph.states[after]))
            visited.append(after)
            at = after


def _shortest(
    graph: Graph, part: frozenset[int], start: int, reached: Callable[[Any, int], bool]
) -> list[tuple[Any, int]]:
    queue: list[tuple[int, tuple[tuple[Any, int], ...]]] = [(start, ())]
    seen = {start}
    for at, path in queue:  # grows meanwhile
        for step, after in graph.edges(at):
            if after is not None and after in part:
                if reached(step, after):
                    return [*path, (step, after)]
                if after not in seen:
                    seen.add(after)
                    queue.append((after, (*path, (step, after))))
    raise AssertionError("a fair cycle is strongly connected")
