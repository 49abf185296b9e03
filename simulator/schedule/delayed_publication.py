"""Who could end an instant lingers while others can go on, so that instants overlap that would follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose, Schedule

DELAYS = 3
"""Of so many + 1 decisions all but one leave out whoever is about to publish, or to carry out a plan."""


LAST = ("_takes_lock", "_starts_plan", "_starts_rollback", "_resumes_rollback")


class DelayedPublication:
    """Wraps a schedule: steps that bring an instant to its end are mostly the last to be taken."""

    def __init__(self, inner: Schedule) -> None:
        self._inner = inner

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """As the inner schedule."""
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """The inner schedule's choice, mostly among those who are not about to publish."""
        others = [step for step in enabled if not step.action.endswith(LAST)]
        lingers = bool(others) and choose(DELAYS + 1) < DELAYS
        return self._inner.next(choose, others if lingers else enabled)
