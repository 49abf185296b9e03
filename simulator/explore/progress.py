"""Liveness of a finished search: the states in which runs end, the cycles, and the events outstanding there.

A promise about whole runs (`kind` run) has `outstanding(system, state)`. It returns the events that must still happen,
each with a sentence, or nothing once the goal is reached. Under weak fairness a run either ends in a state without
successors, or stays permanently in a strongly connected component or a part of one. It can stay there unless some fair
action is possible in every state and never taken. An event that is outstanding in all these states never happens.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from .space import Space
from .watch import Watchers


class Ends:
    """The states without successors: deadlocks, states at a limit of the world, or ends of the run."""

    def __init__(self, space: Space, watchers: Watchers) -> None:
        self.space, self.watchers = space, watchers
        self.count = self.at_limit = 0
        self.deadlock: int | None = None

    def see(self, number: int, state: Any) -> None:
        """Record that the state with this number has no successors."""
        self.count += 1
        ends = list(self.space.ends(state))
        if not all(self.space.finished(end) for end in ends):
            self.deadlock = number if self.deadlock is None else self.deadlock
        elif any(True for end in ends for _ in self.space.limits(end)):
            self.at_limit += 1
        for watch in self.watchers.of_runs:
            for end in ends:
                self._judge(watch, state, end)

    def _judge(self, watch: Any, state: Any, end: Any) -> None:
        left = watch.promise.outstanding(self.space.system, end)
        if not left:
            return
        what = "; ".join(left.values())
        if limited := watch.promise.limited(self.space.system, end):
            watch.doubt = watch.doubt or f"{what}, and a limit of the world keeps {limited} from acting"
        elif watch.broken is None:
            watch.broken = (f"no step is possible any more, and {what}", state, None)


def judge_cycles(space: Space, states: Sequence[Any], numbers: Mapping[Any, int], watches: Sequence[Any]) -> None:
    """Find fair cycles that break a promise about runs.

    A run may cycle within a part of a component. An event only needs to be outstanding in the states that the run
    visits. Therefore each event is examined in the components of the states in which it is outstanding.
    """
    left = [watch for watch in watches if watch.broken is None]
    if space.about:  # with reductions neither the names of events nor single steps are known
        if any(_stays(space, states, numbers, set(each)) for each in components(space, states, numbers)):
            for watch in left:
                watch.doubt = "runs can cycle permanently: fairness is judged without reductions (--no-reduction)"
        return
    for watch in left:
        where: dict[str, set[int]] = {}
        for number, state in enumerate(states):
            for name in watch.promise.outstanding(space.system, state):
                where.setdefault(name, set()).add(number)
        rounds = (each for name in sorted(where) for each in components(space, states, numbers, where[name]))
        fair = (each for each in rounds if _is_fair(space, states, numbers, set(each), watch.promise))
        watch.broken = next((_never(space, [states[n] for n in each], watch.promise) for each in fair), None)


def _never(space: Space, component: Sequence[Any], promise: Any) -> tuple[str, Any, Any]:
    """The violation by a component: the events that are outstanding in all its states."""
    left = [promise.outstanding(space.system, state) for state in component]
    common = set.intersection(*(set(each) for each in left))
    return f"a run can cycle permanently, and {'; '.join(left[0][n] for n in sorted(common))}", component[0], None


def _stays(space: Space, states: Sequence[Any], numbers: Mapping[Any, int], inside: set[int]) -> bool:
    """Whether a step stays within these states."""
    return any(after in inside for number in inside for after in _numbered(space, states, numbers, number))


def _is_fair(space: Space, states: Sequence[Any], numbers: Mapping[Any, int], inside: set[int], promise: Any) -> bool:
    """Whether a fair run can stay within these states: no fair action is possible in all of them and never taken."""
    stays, taken = False, set[Any]()
    always: set[Any] | None = None
    for number in inside:
        able = set()
        for step, after in space.successors(states[number]):
            fair = promise.fair(space.system, step)
            if fair:
                able.add((step.actor, step.action))
            if _number(space, numbers, after) in inside:
                stays = True
                if fair:
                    taken.add((step.actor, step.action))
        always = able if always is None else always & able
    return stays and not (always or set()) - taken


def components(
    space: Space, states: Sequence[Any], numbers: Mapping[Any, int], within: Container[int] | None = None
) -> Iterator[list[int]]:
    """The strongly connected components, as numbers of states; a component comes after those that it leads to.

    `within` restricts the graph to some states. This is Tarjan's algorithm without recursion. It computes successors
    again from cached transitions, because a list of all edges would take ten times the memory of the states.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in range(len(states)):
        if root in order or (within is not None and root not in within):
            continue
        work = [(root, _numbered(space, states, numbers, root, within))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            at, following = work[-1]
            new = next((n for n in _lowering(following, at, order, low, on_stack)), None)
            if new is not None:
                order[new] = low[new] = len(order)
                stack.append(new)
                on_stack.add(new)
                work.append((new, _numbered(space, states, numbers, new, within)))
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[at])
            if low[at] == order[at]:
                cut = stack.index(at) if len(stack) < 64 else len(stack) - 1 - stack[::-1].index(at)
                yield (found := stack[cut:])
                on_stack.difference_update(found)
                del stack[cut:]


def _lowering(
    following: Iterator[int], at: int, order: dict[int, int], low: dict[int, int], on_stack: set[int]
) -> Iterator[int]:
    """The successors that were not visited yet. Those on the stack lower the low link of `at`."""
    for number in following:
        if number not in order:
            yield number
        elif number in on_stack:
            low[at] = min(low[at], order[number])


def _numbered(
    space: Space,
    states: Sequence[Any],
    numbers: Mapping[Any, int],
    number: int,
    within: Container[int] | None = None,
) -> Iterator[int]:
    following = (_number(space, numbers, after) for _, after in space.successors(states[number]))
    return following if within is None else filter(within.__contains__, following)


def _number(space: Space, numbers: Mapping[Any, int], state: Any) -> int:
    return numbers[space.canonical(state) if space.canonical else state]
