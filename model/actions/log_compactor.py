"""Log compactors: under the lock a plan over several logs of a slice, one log in their place, a completed instant.

RFC-66 has readers leave out the logs that a completed log compaction has taken (`handle_log_compaction`). What it takes
is contiguous in completion order, so that its log may rank where they did. A plan fixes its inputs: another log
compactor can take it up again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..kernel.table import GroupPlan, Instant, Plan, table_of
from ..machine.transition import Action, Args, Changes, Guard, Transition, given, transition
from ..mechanisms.log_compaction import LogCompaction, log_plan, with_log_plans
from ..mechanisms.restores import Restore
from ..mechanisms.restores.checks import PLAN_STANDS, input_stands, stands
from ..rules import rules_of
from ..timeline.clock import clock_of
from ..timeline.decisions import last_time
from ..timeline.plans_by_log import Planning, planning
from ..timeline.publication import publication, publication_actions
from ..timeline.resuming import resuming, starting
from ..world import World
from . import Setting
from .compactor import ever_made

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]

KIND, PREFIX = "log_compactor", "m"
CHOOSES = ("completion_time",)
IN_RANDOM_WORLDS = 1
SERVICE = True
ACTIONS = (
    Action("log_compactor_schedules_plan", "under the lock: takes a requested time and puts a plan over logs",
           "{actor} schedules a log compaction"),
    Action("log_compactor_takes_time", "under a lock that can be lost: lists what is completed, takes a requested time",
           "{actor} takes a time for its log compaction"),
    Action("log_compactor_puts_plan", "puts the plan for that time, or finds that something was decided meanwhile",
           "{actor} puts its plan over logs"),
    Action("log_compactor_starts_plan", "puts the inflight instant of the plan it scheduled",
           "{actor} starts its plan"),
    Action("log_compactor_resumes_plan", "takes up the oldest pending log compaction whose runner died",
           "{actor} takes up the plan of a dead log compactor"),
    Action("log_compactor_writes_log", "puts the log that stands for those of one file group",
           "{actor} writes one log for those of group {group}"),
    *publication_actions(KIND),
)  # fmt: skip


PLANNED = "about to start its plan"


class LogCompactor(NamedTuple):
    """`plan` is the requested time of the plan it scheduled or runs, `groups` those it works on, `logs` those done.

    `parts`: what its plan takes, until that is there. `seen` (decision log only): how many decisions there were when it
    looked.
    """

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    logs: int = 0
    completed: int = 0
    dead: bool = False
    parts: tuple[GroupPlan, ...] = ()
    seen: int = 0
    until: int = 0
    then: str = ""

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    mine = setting.of(KIND)
    return {"log_plans": (), **{me: LogCompactor() for me in mine}} if mine else {}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        left = given(log_compaction_is_left, compactors=setting.of(KIND))
        yield from planning(me, setting, Planning(
            actions=("log_compactor_schedules_plan", "log_compactor_takes_time", "log_compactor_puts_plan"),
            guards=(Guard("a log compaction must be left", left, limit=True),
                    Guard("there must be several logs in a slice", inputs)),
            look=look, put=put, plans="log_plans", requested="plan", too_late=become_idle,
        ))  # fmt: skip
        yield resuming("log_compactor_resumes_plan", KIND, me, setting, plans="log_plans", finished=LogCompaction,
                       start=started)  # fmt: skip
        yield from _running(me, setting)


def log_compaction_is_left(
    log_plans: Plans, world: World, compactors: tuple[str, ...], restores: tuple[Restore, ...] = ()
) -> bool:
    return ever_made(compactors, log_plans, restores) < world.log_compactions


def inputs(published: Published, plans: Plans, log_plans: Plans, setting: Setting) -> tuple[GroupPlan, ...]:
    """What a plan that is made now takes."""
    table = with_log_plans(table_of(published, plans), published, log_plans)
    return log_plan(rules_of(setting.protocol), table, setting.world.groups)


def look(
    clock: int, published: Published, plans: Plans, log_plans: Plans, setting: Setting, decisions: tuple[Any, ...] = (),
    *, ahead: int = 0,
) -> Changes:  # fmt: skip
    """List what is completed and take a requested time."""
    times = (entry.completed for entry in published), (each.requested for each in (*plans, *log_plans))
    after = max(last_time(decisions), *times[0], *times[1])
    time, later = clock_of(setting.world, setting.protocol).take(clock, ahead, after=after)
    own = LogCompactor(PLANNED, time, parts=inputs(published, plans, log_plans, setting))
    return {"own": own, "clock": later}


def put(own: LogCompactor, me: str, log_plans: Plans) -> Changes:
    """Put the plan."""
    planned = LogCompactor(PLANNED, own.plan, tuple(part.group for part in own.parts))
    return {"own": planned, "log_plans": (*log_plans, Plan(own.plan, me, False, own.parts))}


def become_idle() -> Changes:
    return {"own": LogCompactor()}


def _running(me: str, setting: Setting) -> Iterator[Transition]:
    restores = "restores" in setting.first
    starts = starting("log_compactor_starts_plan", me, at=PLANNED, plans="log_plans", field="plan", start=started)
    yield starts.require(PLAN_STANDS) if restores else starts
    yield transition("log_compactor_writes_log", me, at="running its plan", effect=write_log, arguments=next_group,
                     guards=(input_stands(group_of),) if restores else ())  # fmt: skip
    yield from publication(KIND, me, "written", setting, partial(published_log_compaction, me), requested="plan",
                           check=stands("plan") if restores else None)  # fmt: skip


def next_group(own: LogCompactor) -> Iterable[Args]:
    return ((("group", group_of(own)),),)


def write_log(own: LogCompactor) -> Changes:
    """Put the log that replaces those of one file group."""
    last = own.logs + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else "running its plan", logs=own.logs + 1)}


def published_log_compaction(me: str, own: LogCompactor) -> tuple[LogCompactor, LogCompaction]:
    """The log compactor after its log compaction is published, and the entry."""
    return LogCompactor(), LogCompaction(own.plan, own.completed, me)


def group_of(own: LogCompactor) -> int:
    """The file group that it is at."""
    return own.groups[own.logs]


def started(own: LogCompactor, me: str, plan: Plan, plans: Plans) -> tuple[LogCompactor, Plans]:
    """The log compactor at work on a plan."""
    own = LogCompactor("running its plan", plan.requested, tuple(part.group for part in plan.groups))
    return own, tuple(p._replace(runner=me, inflight=True) if p == plan else p for p in plans)


def pending(published: tuple[Any, ...], log_plans: tuple[Plan, ...] = ()) -> Iterator[Instant]:
    """The pending log compactions."""
    done = {entry.requested for entry in published if isinstance(entry, LogCompaction)} if log_plans else ()
    for each in log_plans:
        if each.requested not in done:
            yield Instant(each.requested, "logcompaction", "inflight" if each.inflight else "requested", None)
