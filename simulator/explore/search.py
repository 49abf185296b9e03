"""Breadth-first search, plain and honest: every state once, no reductions, nothing left out without saying so."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .result import PromiseResult, Result
from .system import Successors, successors_of
from .watch import Watchers

LOOK_EVERY = 4096
"""States between two looks at the bounds and two calls of `progress`."""
GIB = 1 << 30


def explore(
    system: Any,
    promises: Sequence[Any] = (),
    *,
    canary: Any | None = None,
    max_states: int | None = None,
    memory: float | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Result:
    """Look at every state of a system; see `system.Explorable` for what it needs and `result.Result` for the figures.

    `canary` is a promise that must be found violated: a finished search that does not find it proves nothing.
    Beyond `max_states` distinct states, or `memory` GiB of this process, the search stops and what it has not seen
    violated is UNDETERMINED. `progress(distinct, generated, depth)` is called now and then.
    """
    watched = [*promises, canary] if canary is not None else list(promises)
    search = _Search(system, Watchers(system, watched), max_states, memory, progress)
    began = time.perf_counter()
    stopped = search.run()
    seconds = time.perf_counter() - began
    canary_broken = search.watchers.watches[-1].broken is not None if canary is not None else None
    doubt = stopped
    if canary_broken is False and doubt is None:
        doubt = f"the canary {canary.name} was not found violated: this search sees nothing" if canary else None
    return Result(
        distinct=len(search.states),
        generated=search.generated,
        depth=search.depth,
        seconds=seconds,
        stopped=stopped,
        promises=search.verdicts(len(promises), doubt),
        deadlock=search.path(search.deadlock) if search.deadlock is not None else None,
        ends=search.ends,
        ends_by_budget=search.ends_by_budget,
        canary=canary_broken,
    )


class _Search:
    """States in the order of their discovery, each with the number of the state it was discovered from."""

    def __init__(
        self,
        system: Any,
        watchers: Watchers,
        max_states: int | None,
        memory: float | None,
        progress: Callable[[int, int, int], None] | None,
    ) -> None:
        self.system, self.watchers = system, watchers
        self.max_states, self.memory, self.progress = max_states, memory, progress
        self.successors: Successors = successors_of(system)
        self.finished: Callable[[Any], bool] = getattr(system, "finished", lambda state: True)
        self.budget: Callable[[Any], Any] = getattr(system, "stopped_by_budget", lambda state: ())
        self.states: list[Any] = [system.initial]
        self.numbers: dict[Any, int] = {system.initial: 0}
        self.parents: list[int] = [-1]
        self.generated, self.depth = 1, 1
        self.deadlock: int | None = None
        self.ends = self.ends_by_budget = 0

    def run(self) -> str | None:
        """Search to the end; the answer is why it did not come there, or None."""
        self.watchers.see_state(self.system.initial, None, None)
        look = LOOK_EVERY
        number, level_end = 0, 1
        while number < len(self.states):
            if number == level_end:
                self.depth, level_end = self.depth + 1, len(self.states)
            self._expand(number)
            number += 1
            if number == look or (self.max_states and len(self.states) > self.max_states):
                look = number + LOOK_EVERY
                if reason := self._out_of_bounds():
                    return reason
        return None

    def _expand(self, number: int) -> None:
        state, numbers = self.states[number], self.numbers
        see_step = self.watchers.see_step if self.watchers.step_groups else None
        before = self.generated
        for step, after in self.successors(state):
            self.generated += 1
            if after not in numbers:
                numbers[after] = len(self.states)
                self.states.append(after)
                self.parents.append(number)
                self.watchers.see_state(after, state, step)
            if see_step is not None:
                see_step(state, step, after)
        if self.generated == before:
            self._end(number, state)

    def _end(self, number: int, state: Any) -> None:
        self.ends += 1
        if not self.finished(state):
            self.deadlock = number if self.deadlock is None else self.deadlock
        elif self.budget(state):
            self.ends_by_budget += 1

    def _out_of_bounds(self) -> str | None:
        if self.progress:
            self.progress(len(self.states), self.generated, self.depth)
        if self.max_states and len(self.states) > self.max_states:
            return f"more than {self.max_states:,} distinct states"
        if self.memory and peak_memory() > self.memory * GIB:
            return f"more than {self.memory:g} GiB of memory"
        return None

    def path(self, number: int) -> tuple[Any, ...]:
        """A shortest way from the first state to this one."""
        numbers = [number]
        while self.parents[numbers[-1]] >= 0:
            numbers.append(self.parents[numbers[-1]])
        numbers.reverse()
        states = [self.states[each] for each in numbers]
        return tuple(
            next(step for step, reached in self.successors(before) if reached == after)
            for before, after in pairwise(states)
        )

    def verdicts(self, count: int, doubt: str | None) -> dict[str, PromiseResult]:
        """The results of the first `count` promises under watch."""
        found = {}
        for watch in self.watchers.watches[:count]:
            trace: tuple[Any, ...] | None = None
            if watch.broken:
                _, before, step = watch.broken
                trace = () if step is None else (*self.path(self.numbers[before]), step)
            found[watch.promise.name] = watch.result(trace, doubt)
        return found


def peak_memory() -> int:
    """The most memory that this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
