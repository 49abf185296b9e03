"""Swarm testing (Groce et al., ISSTA 2012): each run excludes some random actions, so that the other actions interact
more often.
"""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose, Schedule

ONE_IN = 6


class Swarm:
    """Wraps a schedule: in each history, every action is excluded with probability 1 / `ONE_IN`.

    Excluded actions are taken only if no other action is enabled.
    """

    def __init__(self, inner: Schedule) -> None:
        self._inner = inner
        self._avoided: frozenset[str] = frozenset()

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        self._avoided = frozenset(action for action in actions if choose(ONE_IN) == ONE_IN - 1)
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        kept = [step for step in enabled if step.action not in self._avoided]
        return self._inner.next(choose, kept or enabled)
