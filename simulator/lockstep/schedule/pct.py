"""Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): actors have random priorities, which change at a
few random points.

At each step, the enabled actor with the highest priority runs. A bug has depth d if it requires d events in a
particular order. In a run with n actors and k steps, PCT finds a bug of depth d with a probability of at least 1 / (n *
k ** (d - 1)).
"""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose
from .random import one_of, without_faults


class Pct:
    """Probabilistic concurrency testing, for bugs that require ``depth`` events in a particular order. All change
    points (steps at which a priority drops) are within the first ``length`` steps.
    """

    def __init__(self, depth: int = 3, length: int = 32) -> None:
        self._depth = depth
        self._length = length
        self._order: list[str] = []
        self._changes: set[int] = set()
        self._count = 0

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Choose random priorities (a permutation of the actors) and random change points."""
        left = list(actors)
        self._order = [left.pop(choose(len(left))) for _ in actors]
        self._changes = {choose(self._length) for _ in range(self._depth - 1)}
        self._count = 0

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return a step of the enabled actor with the highest priority. At a change point, this actor first drops to
        the lowest priority.
        """
        enabled = without_faults(choose, enabled)
        ready = {step.actor for step in enabled}
        if self._count in self._changes:
            first = next((actor for actor in self._order if actor in ready), None)
            if first is not None:
                self._order.remove(first)
                self._order.append(first)
        self._count += 1
        actor = next((actor for actor in self._order if actor in ready), enabled[0].actor)
        mine = [step for step in enabled if step.actor == actor]
        return one_of(choose, mine)
