"""Log compaction merges several log files of a file slice into one; the slice keeps its base file.

Readers ignore the input logs of a completed log compaction (RFC-66, `handle_log_compaction`).

Under the lock, a log compactor plans the compaction of several logs of a file slice. The log compactor then writes one
log that replaces the planned logs, and publishes the log compaction. The logs of a plan are contiguous in completion
order, so that the new log can take the position of the planned logs in the merge order. A plan lists its input logs, so
that another log compactor can resume the plan. The module `rules` defines how a table with log compactions is read.
"""

from __future__ import annotations

from functools import partial

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import PLANS, READS_INPUT
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import Publication, publication, publication_actions
from ...kernel.reader import KEPT_TABLE
from ...kernel.table import GroupPlan, Plan, Plans, Table
from ...kernel.timeline import COMPLETED_TABLE, LATEST, TABLE, Published, add_pending_plans
from ...machine.composition import Composition
from ...machine.mechanism import Kind, Mechanism
from ...machine.plans import PLANNED, WRITTEN, PlanRunner, Runner, plans_and_runs, puts_plan, run_plan, writes_groups
from ...machine.transition import Action, Changes, Guard, preset, transition
from ...rules import Rules
from ...world import World
from . import rules as log_rules
from .rules import LogCompaction, LogCompactionLimits, LogCompactions, WithLogCompactions, with_log_plans

MERGEABLE_LOGS = "mergeable_logs"
"""The view of the input logs that a log compaction planned now would have."""

LOG_COMPACTOR_RESUMES_PLAN = "log_compactor_resumes_plan"

LOG_COMPACTOR = Kind(
    name="log_compactor", prefix="logc", first=PlanRunner(), in_random_worlds=(0, 1, 0, 2), service=True
)


def compose(composition: Composition) -> None:
    """Add the views and transitions of every log compactor to a model. The component (state variable) `log_plans`
    contains the log compaction plans, pending and completed.
    """
    compactors = composition.actors_of(LOG_COMPACTOR)
    if not compactors:
        return
    composition.add_component("log_plans", ())
    composition.map_view(COMPLETED_TABLE, completed_table)
    composition.map_view(TABLE, visible_table)
    composition.map_view(KEPT_TABLE, kept_table)
    composition.map_view(LATEST, latest_time)
    composition.map_view(MERGEABLE_LOGS, mergeable_logs)
    add_pending_plans(composition, "log_plans", "logcompaction", lambda entry: isinstance(entry, LogCompaction))
    left = Guard("a log compaction must be left", preset(log_compaction_is_left, compactors=compactors), limit=True)
    for me in compactors:
        composition.add(
            transition("log_compactor_schedules_plan", me, at="idle", to=PLANNED, effect=take_time,
                       guards=(LOCK_IS_FREE, left, SEVERAL_LOGS), changes=("own", "clock"),
                       tags=(PLANS, READS_CLOCK)).extend(puts_plan("log_plans", Plan), "log_plans"),
            writes_groups("log_compactor_writes_log", me, tags=(READS_INPUT,)),
        )  # fmt: skip
        # The mechanism `rivals` adds the action `resumes` if the world has several log compactors.
        runs = Runner(kind="log_compactor", actor=me, plans="log_plans", requested="plan", start=run_plan,
                      completes=LogCompaction, resumes=LOG_COMPACTOR_RESUMES_PLAN)  # fmt: skip
        plans_and_runs(composition, "log_compactor_schedules_plan", "log_compactor_starts_plan", PlanRunner(), runs)
        publish = partial(published_log_compaction, me)
        publication(composition, Publication("log_compactor", me, since=WRITTEN, publish=publish, requested="plan"))


def completed_table(completed_table: Table, published: Published, log_plans: Plans) -> Table:
    """Add log compactions to the view `completed_table`, the table that a table service lists."""
    return with_log_plans(completed_table, published, log_plans)


def visible_table(table: Table, visible_instants: Published, log_plans: Plans) -> Table:
    """Add log compactions to the view `table`."""
    return with_log_plans(table, visible_instants, log_plans)


def kept_table(kept_table: Table, kept_instants: Published, log_plans: Plans) -> Table:
    """Add the log compactions that a reader has seen to the view `kept_table`."""
    return with_log_plans(kept_table, kept_instants, log_plans)


def latest_time(latest_time: int, log_plans: Plans) -> int:
    """Let the view `latest_time` also cover the requested times of log compaction plans."""
    return max(latest_time, *(plan.requested for plan in log_plans), 0)


def mergeable_logs(completed_table: Table, world: World, rules: Rules) -> tuple[GroupPlan, ...]:
    """Define the view `mergeable_logs`: the inputs that a log compaction planned now would have."""
    return log_rules.mergeable_logs(rules, completed_table, world.groups)


def log_compaction_is_left(log_plans: Plans, world: World, compactors: tuple[str, ...]) -> bool:
    return sum(plan.runner in compactors for plan in log_plans) < world[LogCompactionLimits].log_compactions


def several_logs(mergeable_logs: tuple[GroupPlan, ...]) -> bool:
    return bool(mergeable_logs)


SEVERAL_LOGS = Guard("there must be several logs in a slice", several_logs)


def take_time(clock: int, request_time: TakeTime, mergeable_logs: tuple[GroupPlan, ...], latest_time: int) -> Changes:
    """List the completed instants and choose a requested time, in one atomic step."""
    time, clock = request_time(clock, after=latest_time, action="logcompaction")
    return {"own": PlanRunner(plan=time, parts=mergeable_logs), "clock": clock}


def published_log_compaction(me: str, own: PlanRunner) -> tuple[PlanRunner, LogCompaction]:
    return PlanRunner(), LogCompaction(own.plan, own.completed, me)


MECHANISM = Mechanism(
    rules=lambda protocol: (WithLogCompactions,),
    rules_need_use=True,
    compose=compose,
    kinds=(LOG_COMPACTOR,),
    options=LogCompactions,
    limits=LogCompactionLimits,
    service=True,
    actions=(
        Action("log_compactor_schedules_plan", "under the lock: takes a requested time and puts a plan over logs",
               "{actor} schedules a log compaction"),
        Action("log_compactor_starts_plan", "puts the inflight instant of the plan it scheduled",
               "{actor} starts its plan"),
        Action("log_compactor_writes_log", "puts the log that replaces the planned logs of one file group",
               "{actor} writes one log for those of group {group}", data_phase=True),
        *publication_actions("log_compactor"),
    ),
)  # fmt: skip
