"""A schedule that replays recorded steps, up to the first recorded step that is not enabled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nbcc.model import Step

from .protocol import Choose


def no_choice(n: int) -> int:
    """The `Choose` function of a replay, which is never called."""
    raise AssertionError("a replay has nothing to choose")


class Replay:
    """Chooses the recorded steps in the recorded order.

    ``resolve`` replaces the symbols in a step by times of the current run. ``resolve`` raises KeyError for an unknown
    symbol.
    """

    def __init__(self, steps: Sequence[Step], resolve: Callable[[Step], Step] = lambda step: step) -> None:
        self._steps = steps
        self._resolve = resolve
        self.position = 0

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Restart the replay at the first recorded step."""
        self.position = 0

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return the next recorded step, or None at the end or if the next step is not enabled."""
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
