"""Replays recorded steps, up to the first one that is not enabled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nbcc.model import Step

from .protocol import Choose


def no_choice(n: int) -> int:
    """The `Choose` of a replay, which never chooses."""
    raise AssertionError("a replay has nothing to choose")


class Replay:
    """The recorded steps in their order.

    ``resolve`` replaces the symbols of a step by present times; it raises KeyError for an unknown symbol.
    """

    def __init__(self, steps: Sequence[Step], resolve: Callable[[Step], Step] = lambda step: step) -> None:
        self._steps = steps
        self._resolve = resolve
        self.position = 0

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Start with the first step."""
        self.position = 0

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """The next recorded step; None at the end or if the step is not enabled."""
        if self.complete:
            return None
        try:
            step = self._resolve(self._steps[self.position])
        except KeyError:
            return None
        if step not in enabled:
            return None
        self.position += 1
        return step

    @property
    def complete(self) -> bool:
        """Whether every recorded step was taken."""
        return self.position == len(self._steps)
