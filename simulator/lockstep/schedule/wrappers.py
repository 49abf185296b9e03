"""Schedules that restrict another one: data phases without interruption, an early end, and swarms
(Groce et al., ISSTA 2012), in which each run excludes some random actions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nbcc.model import Step

from .protocol import Choose, Schedule


class AtomicPhases:
    """Wraps a schedule. An actor that takes one of ``actions`` repeats it without interruption as long as it is
    enabled.
    """

    def __init__(self, inner: Schedule, actions: Collection[str]) -> None:
        self._inner = inner
        self._actions = actions
        self._last: Step | None = None

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        self._last = None
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return the next step of an unfinished data phase, or else the step that the inner schedule chooses."""
        last = self._last
        same = [s for s in enabled if last is not None and (s.actor, s.action) == (last.actor, last.action)]
        self._last = same[0] if same and same[0].action in self._actions else self._inner.next(choose, enabled)
        return self._last


class Limited:
    """Wraps a schedule and ends the history after ``most`` steps."""

    def __init__(self, inner: Schedule, most: int) -> None:
        self._inner = inner
        self._left = most

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return the step that the inner schedule chooses, or None after ``most`` steps."""
        self._left -= 1
        return self._inner.next(choose, enabled) if self._left >= 0 else None


ONE_IN = 6


class Swarm:
    """Wraps a schedule: in each history, every action is excluded with probability 1 / `ONE_IN`.

    Excluded actions are taken only if no other action is enabled.
    """

    def __init__(self, inner: Schedule) -> None:
        self._inner = inner
        self._avoided: frozenset[str] = frozenset()

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        # The greatest number stands for the exclusion, because a shrinker tends to 0 and so to no exclusion.
        self._avoided = frozenset(action for action in actions if choose(ONE_IN) == ONE_IN - 1)
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        kept = [step for step in enabled if step.action not in self._avoided]
        # An action that is avoided is taken rather than ending the history.
        return self._inner.next(choose, kept or enabled)
