"""Swarm testing (Groce et al., ISSTA 2012): each run leaves some actions out, so that the others meet more often."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose, Schedule

ONE_IN = 6


class Swarm:
    """Wraps a schedule: each action is left out of a history with probability 1 / `ONE_IN`.

    An action left out is not forbidden but last: when nothing else is enabled it is taken, so that histories do not
    end before anything has happened.
    """

    def __init__(self, inner: Schedule) -> None:
        self._inner = inner
        self._left_out: frozenset[str] = frozenset()

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Draw what is left out."""
        self._left_out = frozenset(action for action in actions if choose(ONE_IN) == ONE_IN - 1)
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """The inner schedule's choice among what is not left out."""
        kept = [step for step in enabled if step.action not in self._left_out]
        return self._inner.next(choose, kept or enabled)
