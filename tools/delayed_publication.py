"""The schedule of the soak test: it delays publications, so that most instants overlap."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step
from nbcc.simulator.lockstep.schedule import Choose, Schedule

DELAYS = 3
"""In this many of (this many + 1) decisions, the schedule excludes steps that start to publish, or to execute a plan.
"""


LAST = ("_takes_lock", "_starts_plan", "_starts_rollback", "_resumes_rollback")


class DelayedPublication:
    """Wraps a schedule, and delays the publication of instants. In most decisions, steps that begin to publish an
    instant are excluded if other steps are enabled.
    """

    def __init__(self, inner: Schedule) -> None:
        self._inner = inner

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        self._inner.begin(choose, actors, actions)

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """Return a step chosen by the wrapped schedule."""
        others = [step for step in enabled if not step.action.endswith(LAST)]
        delays = bool(others) and choose(DELAYS + 1) < DELAYS
        return self._inner.next(choose, others if delays else enabled)
