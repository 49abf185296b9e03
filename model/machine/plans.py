"""Describes actors that make and run plans, such as compaction plans, so that a mechanism can refine all of them at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .composition import Composition
from .transition import Changes, Component, Effect, preset, transition

STARTS_PLAN, RESUMES_PLAN = "starts plan", "resumes plan"
"""Tags: a runner starts its own plan; a runner takes up a pending plan of another actor."""

DONE = "instants_known_done"
"""The view of the instants whose plans need no runner any more."""


class Planner(NamedTuple):
    """Describes how one actor makes plans. `plans` names the component (state variable) that contains the plans.
    `requested` names the actor's field that contains the requested time of the plan.

    `give_up` is the effect by which the actor abandons its plan. An actor abandons its plan if another actor has
    claimed the same requested time or decision-log entry.
    """

    kind: str
    actor: str
    action: str
    plans: str
    requested: str
    give_up: Effect


Start = Callable[[Any, Any], Any]
"""(actor, plan) -> the actor while it runs the plan."""


class Runner(NamedTuple):
    """Describes how one actor runs plans.

    `plans` and `requested` have the same meaning as in `Planner`. `completes` is the type of the instant that completes
    a plan. `resumes` is the action by which the actor resumes a pending plan. `what` is the noun for the plan in
    descriptions of steps.
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
    """Add the transition by which an actor starts its own plan, and register the `Runner` that describes how the actor
    runs plans.
    """
    starts = preset(start_own_plan, plans=Component(each.plans), start=each.start, requested=each.requested,
                   component=each.plans)  # fmt: skip
    changes = ("own", each.plans)
    composition.add(transition(action, each.actor, at=at, effect=starts, changes=changes, tags=(STARTS_PLAN,)))
    composition.register(each)


def runners(composition: Composition) -> Mapping[str, Runner]:
    """Return a mapping from each actor that runs plans to its `Runner`."""
    return composition.facts(Runner)


def start_own_plan(
    own: Any, me: str, plans: tuple[Any, ...], start: Start, requested: str, component: str
) -> Changes:
    """Put the inflight instant of the actor's own plan."""
    mine = next(plan for plan in plans if plan.requested == getattr(own, requested))
    return start_plan(own, me, mine, plans, start, component)


def start_plan(own: Any, me: str, plan: Any, plans: tuple[Any, ...], start: Start, component: str) -> Changes:
    """Let the actor run a plan, and make the plan's instant inflight."""
    now = plan._replace(runner=me, inflight=True)
    return {"own": start(own, plan), component: tuple(now if each == plan else each for each in plans)}
