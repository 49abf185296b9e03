"""The protocol of schedules. They hold no randomness: every decision is drawn by the caller's `Choose`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from nbcc.model import Step

Choose = Callable[[int], int]
"""``choose(n)`` is a number in ``range(n)``: Hypothesis draws it, so that it can shrink it (0 is the simplest)."""


class Schedule(Protocol):
    """Picks one of the enabled steps, again and again."""

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """A history starts: draw whatever is drawn once. ``actions`` are the model's names."""
        ...

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """One of the enabled steps (there is at least one), or None to end the history."""
        ...
