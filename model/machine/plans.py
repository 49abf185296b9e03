"""How an actor plans and runs plans: facts that mechanisms refine, whatever the plans are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .composition import Composition
from .transition import Changes, Component, Effect, preset, transition

STARTS_PLAN = "starts plan"
"""The tag of a transition that starts a plan."""


class Planner(NamedTuple):
    """How one actor plans. `plans` is the component of the plans, `requested` the actor's field with the plan's time.

    `give_up` is the effect on an actor whose plan can no longer be put.
    """

    kind: str
    actor: str
    action: str
    plans: str
    requested: str
    give_up: Effect


Start = Callable[..., tuple[Any, tuple[Any, ...]]]
"""Of an actor, its name, a plan and all plans: the actor at work on the plan, and the plans as they are then."""


class Runner(NamedTuple):
    """How one actor runs plans. `plans` and `requested`: as for a `Planner`.

    `completes`: the type of the completed instant of a plan; `resumes`: the action that resumes one; `what` names it.
    """

    kind: str
    actor: str
    plans: str
    requested: str
    start: Start
    completes: type
    resumes: str
    what: str = "plan"


def runner(composition: Composition, action: str, at: str, each: Runner) -> None:
    """Add the transition by which an actor starts the plan that it has scheduled."""
    starts = preset(start_own_plan, plans=Component(each.plans), start=each.start, requested=each.requested,
                   component=each.plans)  # fmt: skip
    changes = ("own", each.plans)
    composition.add(transition(action, each.actor, at=at, effect=starts, changes=changes, tags=(STARTS_PLAN,)))
    composition.register(each)


def runners(composition: Composition) -> Mapping[str, Runner]:
    """Actor -> how it runs plans."""
    return composition.facts(Runner)


def start_own_plan(
    own: Any, me: str, plans: tuple[Any, ...], start: Start, requested: str, component: str
) -> Changes:
    """Put the inflight instant of the plan."""
    mine = next(plan for plan in plans if plan.requested == getattr(own, requested))
    own, plans = start(own, me, mine, plans)
    return {"own": own, component: plans}
