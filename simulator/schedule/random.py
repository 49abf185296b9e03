"""A random walk: an actor, then one of its steps. Faults are rare, because they end operations early."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose

FAULTS = ("actor_crashes",)
FAULT_ONE_IN = 12


class Random:
    """The choice is uniform over actors, then over the steps of the actor. One decision in `FAULT_ONE_IN` is a crash.
    """

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Does nothing: a random walk has no choices for the whole history."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """A step of a random actor."""
        enabled = without_faults(choose, enabled)
        actors = list(dict.fromkeys(step.actor for step in enabled))
        actor = actors[choose(len(actors))]
        mine = [step for step in enabled if step.actor == actor]
        return mine[choose(len(mine))]


def without_faults(choose: Choose, enabled: Sequence[Step]) -> Sequence[Step]:
    """The enabled steps without faults. By chance, or if nothing else is enabled, only the faults."""
    faults = [step for step in enabled if step.action in FAULTS]
    if not faults:
        return enabled
    others = [step for step in enabled if step.action not in FAULTS]
    if others and choose(FAULT_ONE_IN) != FAULT_ONE_IN - 1:
        return others
    return faults
