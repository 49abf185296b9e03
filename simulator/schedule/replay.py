"""Replays recorded steps; a step that is not enabled any more is the point where the trace stops to fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nbcc.model import Step

from .protocol import Choose


def no_choice(n: int) -> int:
    """The choices of a replay: there are none."""
    raise AssertionError("a replay has nothing to choose")


class Replay:
    """The given steps in their order, by name. ``resolve`` turns the symbols of a recorded step into times as they are
    now; it raises KeyError where a symbol stands for nothing.
    """

    def __init__(self, steps: Sequence[Step], resolve: Callable[[Step], Step] = lambda step: step) -> None:
        self._steps = steps
        self._resolve = resolve
        self.position = 0

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """From the first step."""
        self.position = 0

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """The next recorded step, or None at the end and where it is not possible."""
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
