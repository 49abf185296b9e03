"""Under the lock, a log compactor plans the compaction of several logs of a file slice. The log compactor then writes
one log that replaces the planned logs, and publishes the log compaction.

The logs of a plan are contiguous in completion order, so that the new log can take the position of the planned logs in
the merge order. A plan lists its input logs, so that another log compactor can resume the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import PLANNED, PLANS, READS_INPUT, RUNNING
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import Publication, publication
from ...kernel.reader import KEPT_TABLE
from ...kernel.table import GroupPlan, Instant, Plan, Plans, Table, pending_plans
from ...kernel.timeline import COMPLETED_TABLE, LATEST, PENDING, TABLE, Published
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.plans import Planner, Runner, runner
from ...machine.transition import Args, Changes, Guard, become, preset, transition
from ...rules import Rules
from ...world import World
from .options import LogCompactionLimits
from .rules import LogCompaction, log_plan, with_log_plans

LOG_PLAN = "log_plan"
"""The view of the input logs that a log compaction planned now would have."""


class LogCompactor(NamedTuple):
    """The state of one log compactor. `plan` is the requested time of the log compactor's plan, and `groups` lists the
    planned file groups. `logs` counts the compacted logs written so far.

    `parts` holds the inputs of the plan until the plan has been put on the timeline.
    """

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    logs: int = 0
    completed: int = 0
    parts: tuple[GroupPlan, ...] = ()
    records: tuple[Any, ...] = ()

    @property
    def group(self) -> int:
        """The file group of the next log that the log compactor writes."""
        return self.groups[self.logs]


LOG_COMPACTOR = Kind(
    name="log_compactor", prefix="logc", first=LogCompactor(), in_random_worlds=(0, 1, 0, 2), service=True
)


def compose(composition: Composition) -> None:
    """Add the component (state variable), views and transitions of every log compactor to a model."""
    compactors = composition.actors_of("log_compactor")
    if not compactors:
        return
    composition.add_component("log_plans", ())
    composition.map_view(COMPLETED_TABLE, completed_table)
    composition.map_view(TABLE, visible_table)
    composition.map_view(KEPT_TABLE, kept_table)
    composition.map_view(LATEST, latest_time)
    composition.map_view(LOG_PLAN, planned_logs)
    composition.map_view(PENDING, pending_log_compactions)
    left = Guard("a log compaction must be left", preset(log_compaction_is_left, compactors=compactors), limit=True)
    for me in compactors:
        composition.add(
            transition("log_compactor_schedules_plan", me, at="idle", to=PLANNED, effect=take_time,
                       guards=(LOCK_IS_FREE, left, SEVERAL_LOGS), changes=("own", "clock"),
                       tags=(PLANS, READS_CLOCK)).extend(put_plan, "log_plans"),
            transition("log_compactor_writes_log", me, at=RUNNING, effect=write_log, arguments=next_group,
                       tags=(READS_INPUT,)),
        )  # fmt: skip
        composition.register(
            Planner("log_compactor", me, "log_compactor_schedules_plan", "log_plans", "plan", become(LogCompactor()))
        )
        runs = Runner("log_compactor", me, "log_plans", "plan", start, LogCompaction, "log_compactor_resumes_plan")
        runner(composition, "log_compactor_starts_plan", PLANNED, runs)
        publish = partial(published_log_compaction, me)
        publication(composition, Publication("log_compactor", me, "written", publish, "plan"))


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


def planned_logs(completed_table: Table, world: World, rules: Rules) -> tuple[GroupPlan, ...]:
    """Define the view `log_plan`: the inputs that a log compaction planned now would have."""
    return log_plan(rules, completed_table, world.groups)


def log_compaction_is_left(log_plans: Plans, world: World, compactors: tuple[str, ...]) -> bool:
    return sum(plan.runner in compactors for plan in log_plans) < world[LogCompactionLimits].log_compactions


def several_logs(log_plan: tuple[GroupPlan, ...]) -> bool:
    return bool(log_plan)


SEVERAL_LOGS = Guard("there must be several logs in a slice", several_logs)


def take_time(clock: int, request_time: TakeTime, log_plan: tuple[GroupPlan, ...], latest_time: int) -> Changes:
    """Under the lock, list the completed instants and choose a requested time."""
    time, clock = request_time(clock, after=latest_time, action="logcompaction")
    return {"own": LogCompactor(plan=time, parts=log_plan), "clock": clock}


def put_plan(own: LogCompactor, me: str, log_plans: Plans) -> Changes:
    """Put the plan of the log compaction on the timeline."""
    planned = own._replace(step=PLANNED, groups=tuple(part.group for part in own.parts), parts=())
    return {"own": planned, "log_plans": (*log_plans, Plan(own.plan, me, False, own.parts))}


def start(own: LogCompactor, plan: Plan) -> LogCompactor:
    return LogCompactor(RUNNING, plan.requested, tuple(part.group for part in plan.groups))


def next_group(own: LogCompactor) -> Iterable[Args]:
    return ((("group", own.group),),)


def write_log(own: LogCompactor) -> Changes:
    """Put the log that replaces the planned logs of one file group."""
    last = own.logs + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else RUNNING, logs=own.logs + 1)}


def published_log_compaction(me: str, own: LogCompactor) -> tuple[LogCompactor, LogCompaction]:
    return LogCompactor(), LogCompaction(own.plan, own.completed, me)


def pending_log_compactions(
    pending_instants: Iterable[Instant], log_plans: Plans, published: Published
) -> Iterable[Instant]:
    """Add pending log compactions to the view `pending_instants`."""
    done = {entry.requested for entry in published if isinstance(entry, LogCompaction)} if log_plans else ()
    yield from pending_plans(log_plans, "logcompaction", done)
    yield from pending_instants
