"""A random walk: first an actor, then one of its steps. Faults are rare, or no history would get far."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose

FAULTS = ("actor_crashes",)
FAULT_ONE_IN = 12


class Random:
    """Uniform over actors, then over the actor's steps; a crash is drawn once in `FAULT_ONE_IN` decisions."""

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Nothing is drawn once."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """An actor, then a step of it."""
        enabled = without_faults(choose, enabled)
        actors = list(dict.fromkeys(step.actor for step in enabled))
        actor = actors[choose(len(actors))]
        mine = [step for step in enabled if step.actor == actor]
        return mine[choose(len(mine))]


def without_faults(choose: Choose, enabled: Sequence[Step]) -> Sequence[Step]:
    """The steps that are no faults; or the faults alone, if the draw says so or nothing else is enabled."""
    faults = [step for step in enabled if step.action in FAULTS]
    if not faults:
        return enabled
    others = [step for step in enabled if step.action not in FAULTS]
    if others and choose(FAULT_ONE_IN) != FAULT_ONE_IN - 1:
        return others
    return faults
