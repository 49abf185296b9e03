"""A random walk: chooses an actor, then a step of the actor. Crashes are rare, because they end operations early."""

from __future__ import annotations

from collections.abc import Sequence

from nbcc.model import Step
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES

from .protocol import Choose

FAULTS = (ACTOR_CRASHES,)
FAULT_ONE_IN = 12


class Random:
    """Chooses an actor, then one of its actions, then the action's arguments, each uniformly at random.

    One in `FAULT_ONE_IN` steps is a crash, if a crash is possible.
    """

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Do nothing, because a random walk makes no choices in advance."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        enabled = without_faults(choose, enabled)
        actors = list(dict.fromkeys(step.actor for step in enabled))
        actor = actors[choose(len(actors))]
        mine = [step for step in enabled if step.actor == actor]
        return one_of(choose, mine)


def one_of(choose: Choose, mine: Sequence[Step]) -> Step:
    """Return a random step of one actor. The action is chosen before its arguments, so that actions with many possible
    arguments are not more likely. If only one step is possible, no random number is drawn.
    """
    actions = list(dict.fromkeys(step.action for step in mine))
    action = actions[choose(len(actions)) if len(actions) > 1 or len(mine) == 1 else 0]
    same = [step for step in mine if step.action == action]
    return same[choose(len(same)) if len(same) > 1 else 0]


def without_faults(choose: Choose, enabled: Sequence[Step]) -> Sequence[Step]:
    """Return the enabled steps without crashes. Occasionally, return only the crashes instead."""
    faults = [step for step in enabled if step.action in FAULTS]
    if not faults:
        return enabled
    others = [step for step in enabled if step.action not in FAULTS]
    # The greatest number stands for the fault, because a shrinker tends to 0 and so removes faults.
    if others and choose(FAULT_ONE_IN) != FAULT_ONE_IN - 1:
        return others
    return faults
