"""A schedule that ends a history early, while actors still have unfinished operations."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose, Schedule


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
