"""Actors that make and run plans, such as compaction plans, described so that a mechanism can refine all of them at
once.

An actor plans in one step, starts its plan, and then writes the output of the plan group by group. If the plan only
lists groups and their inputs, `PlanRunner` is the actor's state, and the effects of this module are its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .composition import Composition
from .transition import Args, Changes, Component, Effect, Preset, Transition, become, preset, transition

STARTS_PLAN, RESUMES_PLAN = "starts plan", "resumes plan"
"""Tags: a runner starts its own plan; a runner takes up a pending plan of another actor."""

DONE = "instants_known_done"
"""The view of the instants whose plans need no runner any more."""

PLANNED, RUNNING, WRITTEN = "about to start its plan", "running its plan", "written"


class PlanRunner(NamedTuple):
    """The state of an actor that writes one file for each group of its plan. `plan` is the requested time of the plan,
    and `written` counts the groups whose file has been put. `parts` holds the inputs of the plan until the plan is put.
    """

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    written: int = 0
    completed: int = 0
    parts: tuple[Any, ...] = ()
    records: tuple[Any, ...] = ()

    @property
    def group(self) -> int:
        """The group of the next file that the actor writes."""
        return self.groups[self.written]


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


def plans_and_runs(
    composition: Composition, plans: str, starts: str, idle: Any, each: Runner, at: str = PLANNED
) -> None:
    """Register how an actor makes plans, with the action `plans`, and how it runs them. Add the transition `starts`, by
    which the actor starts its own plan at the step `at`. `idle` is its state between two operations.
    """
    composition.register(Planner(each.kind, each.actor, plans, each.plans, each.requested, become(idle)))
    composition.add(starts_plan(starts, each.actor, each.plans, each.requested, each.start, at))
    composition.register(each)


def starts_plan(
    action: str, me: str, plans: str, requested: str, start: Start, at: str = PLANNED
) -> Transition:
    """Return the transition by which the actor starts its own plan in the component `plans`."""
    effect = preset(start_own_plan, plans=Component(plans), start=start, requested=requested, component=plans)
    return transition(action, me, at=at, effect=effect, changes=("own", plans), tags=(STARTS_PLAN,))


def none_pending(plans: tuple[Any, ...], published: tuple[Any, ...]) -> bool:
    """True if every plan has completed."""
    return {plan.requested for plan in plans} <= {entry.requested for entry in published}


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


# The steps of an actor whose state is a `PlanRunner`.


def puts_plan(component: str, new: Callable[..., Any]) -> Preset:
    """Return the effect that puts the actor's plan. `new` makes a plan from its requested time, its runner, False (the
    plan is not inflight) and its parts.
    """
    return preset(put_plan, plans=Component(component), component=component, new=new)


def put_plan(own: PlanRunner, me: str, plans: tuple[Any, ...], component: str, new: Callable[..., Any]) -> Changes:
    """Put the actor's plan on the timeline as a requested instant."""
    planned = own._replace(step=PLANNED, groups=tuple(part.group for part in own.parts), parts=())
    return {"own": planned, component: (*plans, new(own.plan, me, False, own.parts))}


def run_plan(own: PlanRunner, plan: Any) -> PlanRunner:
    """Return the state of the actor when it starts to run a plan."""
    return PlanRunner(RUNNING, plan.requested, tuple(part.group for part in plan.groups))


def writes_groups(action: str, me: str, tags: tuple[str, ...] = ()) -> Transition:
    """Return the transition by which the actor writes the file of the next group of its plan."""
    return transition(action, me, at=RUNNING, effect=write_group, arguments=next_group, tags=tags)


def next_group(own: PlanRunner) -> Iterable[Args]:
    return ((("group", own.group),),)


def write_group(own: PlanRunner) -> Changes:
    """Put the file of one group."""
    last = own.written + 1 == len(own.groups)
    return {"own": own._replace(step=WRITTEN if last else own.step, written=own.written + 1)}
