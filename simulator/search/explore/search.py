"""Breadth-first search: numbers states in order of discovery, and checks promises in each new state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from nbcc.model.promises.promise import NotJudged

from .acyclicity import may_cycle
from .arrays import over_arrays
from .ends import Ends
from .lasso import Lasso, find_lasso
from .memory import MemoryBound
from .result import PromiseResult
from .space import Space
from .system import first_of
from .walk import Numbers, Parents, PlainWalk, Walk
from .watch import Watchers

CHECK_EVERY = 4096
"""States between two checks of the bounds and two calls of `progress`."""
ARRAYS_FROM = 50_000
"""States from which a search without reductions walks over arrays, if numba is installed (the extra `search`)."""
CHECKPOINT_EVERY = 60.0
"""Seconds between two checkpoints."""
Progress = Callable[[int, int, int, int], None]


class Bounds(NamedTuple):
    """The bounds of a search: distinct states, depth, and memory in GiB (None: most of the free memory)."""

    max_states: int | None = None
    max_depth: int | None = None
    memory: float | None = None


def blind(canary: Any) -> str:
    """Return the message for a search that did not find the violation of the canary, a promise that must be violated.
    """
    return f"the canary {canary.name} was not found violated: this search proves nothing"


class Search:
    """One search: the bounds, the promises, and the verdicts. Its walk visits the states."""

    def __init__(self, space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None = None) -> None:
        self.space, self.watchers, self.progress = space, watchers, progress
        self.max_states, self.max_depth = bounds.max_states, bounds.max_depth
        self.memory = MemoryBound(bounds.memory)
        self.depth = 1
        self.at, self.level_end, self.next_check = 0, 1, CHECK_EVERY
        self.ends = Ends(space, watchers)
        self.walk: Walk = PlainWalk(space, watchers, self.ends)
        self.until_all_broken = False
        self.save: Callable[[], None] | None = None
        """Writes a checkpoint."""
        self.resumed = False
        """Whether the search continues a checkpoint. Then the memos of transitions are incomplete."""

    @property
    def states(self) -> Sequence[Any]:
        """The states in order of discovery."""
        return self.walk.states

    @property
    def numbers(self) -> Numbers:
        """The number of each state."""
        return self.walk.numbers

    @property
    def parents(self) -> Parents:
        """The number of each state's predecessor; -1 for the first state."""
        return self.walk.parents

    @cached_property
    def on_cycles(self) -> list[int]:
        """The numbers of the states that are on a cycle (see `Walk.on_cycles`)."""
        return self.walk.on_cycles()

    def run(self) -> str | None:
        """Run the search until all states are visited or a bound is reached. Returns the reason why the search stopped
        early, or None.
        """
        # A resumed search has judged the initial state already.
        if self.at == 0:
            self.watchers.see_state(self.states[0], None, None)
        try:
            stopped = self._run()
        except NotJudged as reason:
            stopped = str(reason)
        if stopped and self.save:
            self.save()
        return stopped

    def _run(self) -> str | None:
        saved = time.monotonic()
        while self.at < len(self.states):
            if self.at == self.level_end:
                if self.max_depth and self.depth >= self.max_depth:
                    return f"more than {self.max_depth} levels"
                self.depth += 1
                self.level_end = len(self.states)
            until = min(self.level_end, self.next_check)
            if self.max_states:
                # Few states at a time near the bound, because one state may have many successors.
                until = min(until, self.at + max(1, (self.max_states - len(self.states)) // 8))
            self.walk.expand(self.at, until, self.level_end)
            self.at = until
            if self.until_all_broken and self.watchers.all_broken:
                return None
            if self.max_states and len(self.states) > self.max_states:
                return f"more than {self.max_states:,} distinct states"
            if self.at >= self.next_check:
                self.next_check = self.at + CHECK_EVERY
                self._report()
                if isinstance(self.walk, PlainWalk) and len(self.states) >= ARRAYS_FROM:
                    self._walk_over_arrays()
                if reason := self.memory.reached(self.walk.growth):
                    return reason
                if self.save and time.monotonic() - saved > CHECKPOINT_EVERY:
                    self.save()
                    saved = time.monotonic()
        self._report()
        return None

    def _walk_over_arrays(self) -> None:
        """Continue over arrays, if they can hold the states of this space."""
        # A checkpoint holds Python's objects.
        if self.save is None:
            self.walk = over_arrays(self.space, self.watchers, self.ends, self.walk) or self.walk

    def _report(self) -> None:
        if self.progress:
            self.progress(len(self.states), self.walk.generated, self.depth, len(self.states) - self.at)

    def chain(self, number: int) -> list[Any]:
        """Return the canonical states on a shortest path from the initial state to the state with index `number`."""
        numbers = [number]
        while self.parents[numbers[-1]] >= 0:
            numbers.append(self.parents[numbers[-1]])
        return [self.states[each] for each in reversed(numbers)]

    def run_to_end(self, number: int | None) -> tuple[Any, ...] | None:
        """Return a run that passes through the state `number`, or a state symmetric to it, and ends in a state without
        successors.
        """
        if number is None:
            return None
        taken, reached = self.space.walk(self.chain(number))
        return (*taken, *self.space.to_end(reached))

    def verdicts(self, count: int, stopped: str | None, canary: Any | None) -> dict[str, PromiseResult]:
        doubt = stopped
        # A search that stopped early may have stopped before the canary, which its own reason then explains.
        if canary is not None and self.watchers.watches[-1].broken is None and doubt is None:
            doubt = blind(canary)
        # Cycles of an incomplete graph say nothing about fairness: the step that leaves a cycle may be missing.
        complete = not doubt and self.at == len(self.states)
        may_return = self.walk.goes_back and complete and self.watchers.of_runs
        if may_return and (self.resumed or may_cycle(self.space)) and self.on_cycles:
            self._judge_cycles()
        self._judge_all_states()
        found = {}
        for watch in self.watchers.watches[:count]:
            trace: tuple[Any, ...] | None = None
            if watch.promise.kind == "run":
                trace = self._broken_end(watch) if watch.broken else None
            elif watch.broken:
                trace, message = self._broken_run(watch)
                watch.broken = (message, *watch.broken[1:])
            found[watch.promise.name] = watch.result(trace, doubt)
        return found

    def _judge_cycles(self) -> None:
        for watch in self.watchers.of_runs:
            if watch.broken is None and not first_of(watch.promise):
                lasso = find_lasso(self, watch.promise)
                if isinstance(lasso, Lasso):
                    watch.broken, watch.lasso = (lasso.because, None, None), lasso
                else:
                    watch.doubt = lasso or watch.doubt

    def _judge_all_states(self) -> None:
        """Judge the promises about runs that examine all visited states at once, by their function `first`."""
        for watch in self.watchers.of_runs:
            first = first_of(watch.promise)
            if first and watch.broken is None and (violation := first(self.space.system, self.states)):
                number, message = violation
                watch.broken = (message, self.states[number], None)

    def _broken_end(self, watch: Any) -> tuple[Any, ...]:
        if watch.lasso:
            return tuple(watch.lasso.steps)
        number = self.numbers[watch.broken[1]]
        if first_of(watch.promise):
            taken, state = self.space.walk(self.chain(number))
            # The names of actors may differ from those in the canonical state.
            message = watch.promise.holds(self.space.system, None, None, state)
            watch.broken = (message or watch.broken[0], *watch.broken[1:])
            return tuple(taken)
        return self.run_to_end(number) or ()

    def _broken_run(self, watch: Any) -> tuple[tuple[Any, ...], str]:
        message, before, _ = watch.broken
        if before is None:
            return (), message
        taken, state = self.space.walk(self.chain(self.numbers[before]))
        for step, after in self.space.successors(state):
            message = watch.promise.holds(self.space.system, state, step, after)
            if message:
                return (*taken, *self.space.steps(state, step, after)), message
        raise AssertionError(f"{watch.promise.name} was violated by a step that cannot be found again")
