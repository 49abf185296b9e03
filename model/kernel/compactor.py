"""Compactors schedule a plan concurrently with writers, merge the planned logs into base files, and publish.

See RFC-66, "Non-Serial Compaction Plan Schedule". A plan lists its input files (`planning.py`), so every compactor that
runs the plan writes the same base files. The requested time of a plan is called a barrier: a log that completes after
the barrier belongs to a newer file slice (`slicing.py`). `merge.py` defines how the records of a key are merged.
`tombstones.py` defines which deletes a base file retains.
"""

from __future__ import annotations

from functools import partial

from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.plans import PLANNED, WRITTEN, PlanRunner, Runner, plans_and_runs, puts_plan, run_plan, writes_groups
from ..machine.transition import Action, Changes, Guard, preset, transition
from ..world import World
from .clock import READS_CLOCK, TakeTime
from .lock import LOCK_IS_FREE
from .planning import PlanningRules, plan
from .publication import Publication, publication, publication_actions
from .table import Compaction, GroupPlan, Plan, Plans, Table, completes_plan
from .timeline import add_pending_plans

COMPACTOR_SCHEDULES_PLAN = "compactor_schedules_plan"
COMPACTOR_STARTS_PLAN = "compactor_starts_plan"
COMPACTOR_WRITES_BASE = "compactor_writes_base"
COMPACTOR_RESUMES_PLAN = "compactor_resumes_plan"

PLANS, READS_INPUT = "plans", "reads input"
"""Tags: a transition puts a plan; a transition reads the input files of a plan."""

COMPACTOR = Kind(name="compactor", prefix="c", first=PlanRunner(), in_random_worlds=(1, 1, 2, 1), service=True)


def compose(composition: Composition) -> None:
    """Add the transitions of every compactor to a model."""
    composition.add_component("plans", ())
    compactors = composition.actors_of(COMPACTOR)
    left = Guard("a compaction must be left", preset(compaction_is_left, compactors=compactors), limit=True)
    for me in compactors:
        composition.add(
            transition(COMPACTOR_SCHEDULES_PLAN, me, at="idle", to=PLANNED, effect=take_barrier,
                       guards=(LOCK_IS_FREE, left, LOG_TO_COMPACT), changes=("own", "clock"), tags=(PLANS, READS_CLOCK),
                       ).extend(puts_plan("plans", Plan), "plans"),
            writes_groups(COMPACTOR_WRITES_BASE, me, tags=(READS_INPUT,)),
        )  # fmt: skip
        runs = Runner("compactor", me, "plans", "plan", run_plan, Compaction, COMPACTOR_RESUMES_PLAN)
        plans_and_runs(composition, COMPACTOR_SCHEDULES_PLAN, COMPACTOR_STARTS_PLAN, PlanRunner(), runs)
        publication(composition, Publication("compactor", me, WRITTEN, partial(published_compaction, me), "plan"))
    add_pending_plans(composition, "plans", "compaction", completes_plan)


def compaction_is_left(plans: Plans, world: World, compactors: tuple[str, ...]) -> bool:
    return sum(plan.runner in compactors for plan in plans) < world.compactions


def log_to_compact(
    clock: int, request_time: TakeTime, completed_table: Table, world: World, rules: PlanningRules
) -> tuple[GroupPlan, ...]:
    """Return the inputs of a compaction plan scheduled now; () if there is nothing to compact."""
    # The clock is only looked at: a guard must not change the state, and the effect takes the same time again.
    barrier, _ = request_time(clock, action="commit")
    return plan(rules, completed_table, world.groups, barrier)


LOG_TO_COMPACT = Guard("there must be a log to compact", log_to_compact)


def take_barrier(
    clock: int, request_time: TakeTime, completed_table: Table, world: World, rules: PlanningRules
) -> Changes:
    """Under the lock, choose the plan's requested time (the barrier) and list the inputs of the plan."""
    barrier, clock = request_time(clock, action="commit")
    return {"own": PlanRunner(plan=barrier, parts=plan(rules, completed_table, world.groups, barrier)), "clock": clock}


def published_compaction(me: str, own: PlanRunner) -> tuple[PlanRunner, Compaction]:
    return PlanRunner(), Compaction(own.plan, own.completed, me)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(COMPACTOR,),
    service=True,
    actions=(
        Action(COMPACTOR_SCHEDULES_PLAN, "under the lock: takes a requested time and puts the plan",
               "{actor} schedules a plan"),
        Action(COMPACTOR_STARTS_PLAN, "puts the inflight instant of the plan it scheduled",
               "{actor} starts its plan"),
        Action(COMPACTOR_WRITES_BASE, "puts the base file of one file group",
               "{actor} writes the base of group {group}", continues_call=True, data_phase=True),
        *publication_actions("compactor"),
    ),
)  # fmt: skip
