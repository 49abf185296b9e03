"""Compactors schedule a plan concurrently with writers, merge the planned logs into base files, and publish.

See RFC-66, "Non-Serial Compaction Plan Schedule". A plan lists its input files (`planning.py`), so every compactor that
runs the plan writes the same base files. The requested time of a plan is called a barrier: a log that completes after
the barrier belongs to a newer file slice (`slicing.py`). `merge.py` defines how the records of a key are merged.
`tombstones.py` defines which deletes a base file retains.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.plans import Planner, Runner, runner
from ..machine.transition import Action, Args, Changes, Guard, become, preset, transition
from ..world import World
from .clock import READS_CLOCK, TakeTime
from .lock import LOCK_IS_FREE
from .planning import plan
from .publication import Publication, publication, publication_actions
from .table import Compaction, GroupPlan, Instant, Plan, Plans, Table, completes_plan, pending_plans
from .timeline import PENDING, Published

if TYPE_CHECKING:
    from ..rules import Rules

PLANS, READS_INPUT = "plans", "reads input"
"""Tags: a transition puts a plan; a transition reads the input files of a plan."""

PLANNED, RUNNING = "about to start its plan", "running its plan"


class Compactor(NamedTuple):
    """The state of one compactor. `plan` is the requested time of the compactor's plan, and `groups` are the plan's
    file groups. `bases` counts the base files already written. `parts` holds the inputs of the plan until the plan is
    written to storage.
    """

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    bases: int = 0
    completed: int = 0
    parts: tuple[GroupPlan, ...] = ()
    records: tuple[Any, ...] = ()

    @property
    def group(self) -> int:
        """The file group of the next base file that the compactor writes."""
        return self.groups[self.bases]


COMPACTOR = Kind(name="compactor", prefix="c", first=Compactor(), in_random_worlds=(1, 1, 2, 1), service=True)


def compose(composition: Composition) -> None:
    """Add the transitions of every compactor to a model."""
    composition.add_component("plans", ())
    compactors = composition.actors_of("compactor")
    left = Guard("a compaction must be left", preset(compaction_is_left, compactors=compactors), limit=True)
    for me in compactors:
        composition.add(
            transition("compactor_schedules_plan", me, at="idle", to=PLANNED, effect=take_barrier,
                       guards=(LOCK_IS_FREE, left, LOG_TO_COMPACT), changes=("own", "clock"), tags=(PLANS, READS_CLOCK),
                       ).extend(put_plan, "plans"),
            transition("compactor_writes_base", me, at=RUNNING, effect=write_base, arguments=next_group,
                       tags=(READS_INPUT,)),
        )  # fmt: skip
        composition.register(Planner("compactor", me, "compactor_schedules_plan", "plans", "plan", become(Compactor())))
        runner(composition, "compactor_starts_plan", PLANNED,
               Runner("compactor", me, "plans", "plan", start, Compaction, "compactor_resumes_plan"))  # fmt: skip
        publication(composition, Publication("compactor", me, "written", partial(published_compaction, me), "plan"))
    composition.map_view(PENDING, pending_compactions)


def compaction_is_left(plans: Plans, world: World, compactors: tuple[str, ...]) -> bool:
    return sum(plan.runner in compactors for plan in plans) < world.compactions


def log_to_compact(
    clock: int, request_time: TakeTime, completed_table: Table, world: World, rules: Rules
) -> tuple[GroupPlan, ...]:
    """Return the inputs of a compaction plan scheduled now; () if there is nothing to compact."""
    barrier, _ = request_time(clock, action="commit")
    return plan(rules, completed_table, world.groups, barrier)


LOG_TO_COMPACT = Guard("there must be a log to compact", log_to_compact)


def take_barrier(clock: int, request_time: TakeTime, completed_table: Table, world: World, rules: Rules) -> Changes:
    """Under the lock, choose the plan's requested time (the barrier) and list the inputs of the plan."""
    barrier, clock = request_time(clock, action="commit")
    return {"own": Compactor(plan=barrier, parts=plan(rules, completed_table, world.groups, barrier)), "clock": clock}


def put_plan(own: Compactor, me: str, plans: Plans) -> Changes:
    """Put the compaction plan on the timeline as a requested instant."""
    planned = own._replace(step=PLANNED, groups=tuple(part.group for part in own.parts), parts=())
    return {"own": planned, "plans": (*plans, Plan(own.plan, me, False, own.parts))}


def start(own: Compactor, plan: Plan) -> Compactor:
    return Compactor(RUNNING, plan.requested, tuple(part.group for part in plan.groups))


def next_group(own: Compactor) -> Iterable[Args]:
    return ((("group", own.group),),)


def write_base(own: Compactor) -> Changes:
    """Put the base file of one file group. `reads.compacted` defines the content of the base file."""
    last = own.bases + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else RUNNING, bases=own.bases + 1)}


def published_compaction(me: str, own: Compactor) -> tuple[Compactor, Compaction]:
    return Compactor(), Compaction(own.plan, own.completed, me)


def pending_compactions(pending_instants: Iterable[Instant], plans: Plans, published: Published) -> Iterable[Instant]:
    """Add the pending compaction plans to the view `pending_instants`."""
    yield from pending_instants
    done = {entry.requested for entry in published if completes_plan(entry)} if plans else ()
    yield from pending_plans(plans, "compaction", done)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(COMPACTOR,),
    service=True,
    actions=(
        Action("compactor_schedules_plan", "under the lock: takes a requested time and puts the plan",
               "{actor} schedules a plan"),
        Action("compactor_starts_plan", "puts the inflight instant of the plan it scheduled",
               "{actor} starts its plan"),
        Action("compactor_writes_base", "puts the base file of one file group",
               "{actor} writes the base of group {group}", continues_call=True, data_phase=True),
        *publication_actions("compactor"),
    ),
)  # fmt: skip
