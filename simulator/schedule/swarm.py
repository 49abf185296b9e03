"""Swarm testing (Groce et al., ISSTA 2012): each run avoids some random actions, so that the other actions interact
more often.
"""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose, Schedule

ONE_IN = 6


class Swarm:
    """Wraps a schedule: in each history, every action is avoided with probability 1 / `ONE_IN`.

    If only avoided actions are enabled, one of them is taken, so that the history does not end early.
    """

    def __init__(self, inner: Schedule) -> None:
        self._inner = inner
        self._avoided: frozenset[str] = frozenset()

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        self._avoided = frozenset(action for action in actions if choose(ONE_IN) == ONE_IN - 1)
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return the step that the inner schedule chooses among the steps that are not avoided."""
        kept = [step for step in enabled if step.action not in self._avoided]
        return self._inner.next(choose, kept or enabled)
