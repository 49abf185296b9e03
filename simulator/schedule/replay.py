"""Replays recorded steps; a step that is not enabled any more is the point where the trace stops to fit."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose


class Replay:
    """The given steps in their order, by name."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self.position = 0

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """From the first step."""
        self.position = 0

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """The next recorded step, or None at the end and where it is not enabled."""
        if self.position == len(self._steps) or self._steps[self.position] not in enabled:
            return None
        self.position += 1
        return self._steps[self.position - 1]

    @property
    def complete(self) -> bool:
        """Whether every recorded step was taken."""
        return self.position == len(self._steps)
