"""Compactors: schedule a plan while writers write, merge the planned logs, publish (RFC-66, "Non-Serial Compaction Plan
Schedule").

A plan fixes its inputs when it is scheduled, so that every runner of the plan writes the same base files. Its requested
time is a barrier: a log that completes later belongs to a later file slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.transition import Action, Args, Changes, Component, Effect, Guard, given, transition
from ..world import World
from .clock import READS_CLOCK, TakeTime
from .lock import LOCK_IS_FREE
from .planning import plan
from .publication import Publication, publication, publication_actions
from .rules import Rules
from .table import Compaction, GroupPlan, Instant, Plan, Table, completes_plan
from .timeline import PENDING, Published

Plans = tuple[Plan, ...]
PLAN_TABLE = "plan_table"
"""The view of the table by which a compactor plans."""

PLANS, STARTS_PLAN, READS_INPUT = "plans", "starts plan", "reads input"
"""Tags: a transition puts a plan, starts one, or reads the files that the plan takes."""

PLANNED, RUNNING = "about to start its plan", "running its plan"


class Compactor(NamedTuple):
    """`plan` is the requested time of its plan, `groups` the plan's file groups, `bases` how many are written.

    `parts`: what the plan takes, until the plan is on storage.
    """

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    bases: int = 0
    completed: int = 0
    parts: tuple[GroupPlan, ...] = ()
    extra: tuple[Any, ...] = ()

    @property
    def group(self) -> int:
        """The file group that is next."""
        return self.groups[self.bases]


COMPACTOR = Kind(name="compactor", prefix="c", first=Compactor(), drawn=2, service=True)


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


def compose(composition: Composition) -> None:
    """Add the transitions of every compactor."""
    composition.add_component("plans", ())
    compactors = composition.of("compactor")
    left = Guard("a compaction must be left", given(compaction_is_left, compactors=compactors), limit=True)
    for me in compactors:
        composition.add(
            transition("compactor_schedules_plan", me, at="idle", to=PLANNED, effect=take_barrier,
                       guards=(LOCK_IS_FREE, left, LOG_TO_COMPACT), changes=("own", "clock"), tags=(PLANS, READS_CLOCK),
                       ).extend(put_plan, "plans"),
            transition("compactor_writes_base", me, at=RUNNING, effect=write_base, arguments=next_group,
                       tags=(READS_INPUT,)),
        )  # fmt: skip
        composition.note(Planner("compactor", me, "compactor_schedules_plan", "plans", "plan", become_idle))
        runner(composition, "compactor_starts_plan", PLANNED,
               Runner("compactor", me, "plans", "plan", started, Compaction, "compactor_resumes_plan"))  # fmt: skip
        publication(composition, Publication("compactor", me, "written", partial(published_compaction, me), "plan"))
    composition.map_view(PENDING, pending_compactions)
    composition.map_view(PLAN_TABLE, plan_table)


def runner(composition: Composition, action: str, at: str, each: Runner) -> None:
    """Add the transition by which an actor starts the plan that it has scheduled."""
    starts = given(start_own_plan, plans=Component(each.plans), start=each.start, requested=each.requested,
                   component=each.plans)  # fmt: skip
    changes = ("own", each.plans)
    composition.add(transition(action, each.actor, at=at, effect=starts, changes=changes, tags=(STARTS_PLAN,)))
    composition.note(each)


def runners(composition: Composition) -> Mapping[str, Runner]:
    """Actor -> how it runs plans."""
    return composition.noted(Runner)


def compaction_is_left(plans: Plans, world: World, compactors: tuple[str, ...]) -> bool:
    return sum(plan.runner in compactors for plan in plans) < world.compactions


def plan_table(completed_table: Table) -> Table:
    """The view `plan_table`: the completed instants and the plans."""
    return completed_table


def log_to_compact(
    clock: int, request_time: TakeTime, plan_table: Table, world: World, rules: Rules
) -> tuple[GroupPlan, ...]:
    """What a plan takes that is scheduled now."""
    barrier, _ = request_time("commit", clock)
    return plan(rules, plan_table, world.groups, barrier)


LOG_TO_COMPACT = Guard("there must be a log to compact", log_to_compact)


def take_barrier(clock: int, request_time: TakeTime, plan_table: Table, world: World, rules: Rules) -> Changes:
    """Under the lock: list what has completed; the plan's requested time is a barrier after all of it."""
    barrier, clock = request_time("commit", clock)
    return {"own": Compactor(plan=barrier, parts=plan(rules, plan_table, world.groups, barrier)), "clock": clock}


def put_plan(own: Compactor, me: str, plans: Plans) -> Changes:
    """Put the plan."""
    planned = own._replace(step=PLANNED, groups=tuple(part.group for part in own.parts), parts=())
    return {"own": planned, "plans": (*plans, Plan(own.plan, me, False, own.parts))}


def become_idle() -> Changes:
    return {"own": Compactor()}


def start_own_plan(
    own: Any, me: str, plans: tuple[Any, ...], start: Start, requested: str, component: str
) -> Changes:
    """Put the inflight instant of the plan."""
    mine = next(plan for plan in plans if plan.requested == getattr(own, requested))
    own, plans = start(own, me, mine, plans)
    return {"own": own, component: plans}


def started(own: Compactor, me: str, plan: Plan, plans: Plans) -> tuple[Compactor, Plans]:
    """The compactor at work on a plan, and the plans."""
    own = Compactor(RUNNING, plan.requested, tuple(part.group for part in plan.groups))
    now = plan._replace(runner=me, inflight=True)
    return own, tuple(now if each == plan else each for each in plans)


def next_group(own: Compactor) -> Iterable[Args]:
    return ((("group", own.group),),)


def write_base(own: Compactor) -> Changes:
    """Merge the planned logs of one file group into a base file."""
    last = own.bases + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else RUNNING, bases=own.bases + 1)}


def published_compaction(me: str, own: Compactor) -> tuple[Compactor, Compaction]:
    """The compactor after its compaction is published, and the completed instant."""
    return Compactor(), Compaction(own.plan, own.completed, me)


def pending_compactions(pending_instants: Iterable[Instant], plans: Plans, published: Published) -> Iterable[Instant]:
    """The pending instants, with those of compaction plans."""
    yield from pending_instants
    done = {entry.requested for entry in published if completes_plan(entry)} if plans else ()
    for each in plans:
        if each.requested not in done:
            yield Instant(each.requested, "compaction", "inflight" if each.inflight else "requested", None)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(COMPACTOR,),
    service=True,
    actions=(
        Action("compactor_schedules_plan", "under the lock: takes a requested time and puts the plan",
               "{actor} schedules a plan"),
        Action("compactor_starts_plan", "puts the inflight instant of the plan it scheduled",
               "{actor} starts its plan"),
        Action("compactor_resumes_plan", "takes up the oldest pending plan whose runner died",
               "{actor} takes up the plan of a dead compactor"),
        Action("compactor_writes_base", "puts the base file of one file group",
               "{actor} writes the base of group {group}", joins=True),
        *publication_actions("compactor"),
    ),
)  # fmt: skip
