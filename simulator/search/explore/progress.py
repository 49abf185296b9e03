"""Decides liveness promises after a finished search, from states without successors and from cycles.

A promise about whole runs has the `kind` "run" and a method `outstanding`. `outstanding(system, state)` returns the
events that must still occur after the state, each with a description. Under weak fairness, a run either ends in a state
without successors, or remains forever within a strongly connected component of the state graph. If some fair action is
possible in all states of a component but never taken there, every fair run leaves the component. A promise is violated
if a run ends in a state after which an event must still occur. A promise is also violated if a fair run can remain in a
component while the same event must still occur.
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
