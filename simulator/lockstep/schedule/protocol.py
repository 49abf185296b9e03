"""The interface of schedules. A schedule is deterministic: every random choice is made by the caller's function
`Choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from nbcc.model import Step

Choose = Callable[[int], int]
"""``choose(n)`` is a number in ``range(n)``. Hypothesis draws it and can shrink it; 0 is the simplest."""


class Schedule(Protocol):
    """Chooses one enabled step after another, until the history ends."""

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Start a history, and make the random choices for the whole history. ``actions`` are the names of the model's
        actions.
        """
        ...

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return one of the enabled steps, or None to end the history. The caller passes at least one enabled step."""
        ...
