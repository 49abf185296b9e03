"""A random walk: an actor, then one of its steps. Faults are rare, because they end operations early."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step

from .protocol import Choose

FAULTS = ("actor_crashes",)
FAULT_ONE_IN = 12


class Random:
    """Uniform over actors, then over the actions of the actor, then over their arguments.

    One decision in `FAULT_ONE_IN` is a crash.
    """

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Does nothing: a random walk has no choices for the whole history."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        """A step of a random actor."""
        enabled = without_faults(choose, enabled)
        actors = list(dict.fromkeys(step.actor for step in enabled))
        actor = actors[choose(len(actors))]
        mine = [step for step in enabled if step.actor == actor]
        return one_of(choose, mine)


def one_of(choose: Choose, mine: Sequence[Step]) -> Step:
    """One of the steps of an actor: an action, then its arguments. So an action with many arguments is as likely as
    another one. A single possibility consumes no choice.
    """
    actions = list(dict.fromkeys(step.action for step in mine))
    action = actions[choose(len(actions)) if len(actions) > 1 or len(mine) == 1 else 0]
    same = [step for step in mine if step.action == action]
    return same[choose(len(same)) if len(same) > 1 else 0]


def without_faults(choose: Choose, enabled: Sequence[Step]) -> Sequence[Step]:
    """The enabled steps without faults. By chance, or if nothing else is enabled, only the faults."""
    faults = [step for step in enabled if step.action in FAULTS]
    if not faults:
        return enabled
    others = [step for step in enabled if step.action not in FAULTS]
    if others and choose(FAULT_ONE_IN) != FAULT_ONE_IN - 1:
        return others
    return faults
