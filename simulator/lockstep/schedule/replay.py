"""A schedule that replays recorded steps until one of them is not enabled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nbcc.model import Step

from .protocol import Choose


def no_choice(n: int) -> int:
    """Raise AssertionError, because a replay makes no random choices."""
    raise AssertionError("a replay has nothing to choose")


class Replay:
    """Takes the recorded steps in the recorded order.

    Recorded steps may contain symbols such as ``r1`` instead of times. ``resolve`` replaces the symbols with the times
    of the current run. If the current run has no time for a symbol, ``resolve`` raises KeyError and the replay ends.
    """

    def __init__(self, steps: Sequence[Step], resolve: Callable[[Step], Step] = lambda step: step) -> None:
        self._steps = steps
        self._resolve = resolve
        self.position = 0

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Restart the replay at the first recorded step."""
        self.position = 0

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return the next recorded step. Returns None after the last step, or if the next step is not enabled."""
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
        """True if every recorded step was taken."""
        return self.position == len(self._steps)
