"""Judges the states without successors, during a search: deadlocks, ends at a limit of the world, and ends at which a
promise about whole runs is violated.

A promise about whole runs has the `kind` "run" and a method `outstanding`. `outstanding(system, state)` returns the
events that must still occur after the state, each with a description. If a run ends in a state after which an event
must still occur, the promise is violated, or UNDETERMINED if a limit of the world prevents an actor from acting.

A run that never ends can also violate the promise: `lasso` states the rule, and judges such runs after the search.
"""

from __future__ import annotations

from typing import Any

from .space import Space
from .watch import Watchers


class Ends:
    """Collects the states without successors: deadlocks, states at a limit of the world, and states in which a run may
    end.
    """

    def __init__(self, space: Space, watchers: Watchers) -> None:
        self.space, self.watchers = space, watchers
        self.count = self.at_limit = 0
        self.deadlock: int | None = None

    def see(self, number: int, state: Any) -> None:
        """Judge a state without successors. `number` is its index in order of discovery."""
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
