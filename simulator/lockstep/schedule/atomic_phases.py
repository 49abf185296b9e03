"""A schedule for systems in which a data phase (writing data files) cannot be interrupted by other actors."""

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
