"""Log compactors: under the lock a plan over several logs of a slice, one log in their place, a completed instant.

RFC-66 has readers leave out the logs that a completed log compaction has taken (`handle_log_compaction`). What it takes
is contiguous in completion order, so that its log may rank where they did. A plan fixes its inputs: another log
compactor can take it up again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at
from ..services.planning import log_plan
from ..services.restoring import plan_stands, stands
from ..step import Action, Args, Guard, Row
from ..table import GroupPlan, Instant, LogCompaction, Plan, table_of
from ..timeline.clock import clock_of
from ..timeline.plans_by_log import planning_rows
from ..timeline.publication import publication_actions, publication_rows
from ..timeline.resuming import resuming
from . import Setting
from .compactor import ever_made

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


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _scheduling(me, setting)
        yield _resuming(me, setting)
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Iterator[Row]:
    world, protocol, mine = setting.world, setting.protocol, setting.of(KIND)
    clocks = clock_of(world, protocol)
    restores = setting.if_any("restores")

    def inputs(published: Any, plans: tuple[Plan, ...], log_plans: tuple[Plan, ...]) -> Any:
        return log_plan(table_of(published, plans, log_plans=log_plans), world.groups, protocol)

    def look(own: LogCompactor, clock: int, last: int, *seen: Any, ahead: int = 0) -> tuple[LogCompactor, int]:
        published, plans, log_plans = seen[:3]
        known = (last, *(entry.completed for entry in published), *(each.requested for each in (*plans, *log_plans)))
        time, later = clocks.take(clock, ahead, after=max(known))
        return LogCompactor(PLANNED, time, parts=inputs(published, plans, log_plans)), later

    def put(own: LogCompactor, log_plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        planned = LogCompactor(PLANNED, own.plan, tuple(part.group for part in own.parts))
        return planned, (*log_plans, Plan(own.plan, me, False, own.parts))

    guards = (
        Guard("a log compaction must be left",
              lambda *v: ever_made(mine, v[5], v[6] if restores else ()) < world.log_compactions, budget=True),
        Guard("there must be several logs in a slice", lambda *v: bool(inputs(*v[3:6]))),
    )  # fmt: skip
    names = ("log_compactor_schedules_plan", "log_compactor_takes_time", "log_compactor_puts_plan")
    yield from planning_rows(me, setting, actions=names, reads=("published", "plans", "log_plans", *restores),
                             changes=("log_plans",), guards=guards, look=look, put=put,
                             requested=lambda own: own.plan, too_late=LogCompactor(),
                             choices=lambda *_: clocks.readings())  # fmt: skip


def _resuming(me: str, setting: Setting) -> Row:
    # What is decided needs no runner any more: whoever decides next publishes it.
    known = "decisions" if setting.protocol.decision == "log" else "published"
    return resuming("log_compactor_resumes_plan", me, setting.of(KIND), known=known, plans="log_plans",
                    finished=LogCompaction, take_up=lambda own, plan, plans: _started(me, plan, plans))  # fmt: skip


def _running(me: str, setting: Setting) -> Iterator[Row]:
    restores = setting.if_any("restores")
    stays, whole = plan_stands(group_of)

    def starts(own: LogCompactor, plans: tuple[Plan, ...], *_: Any) -> tuple[Any, ...]:
        return _started(me, next(p for p in plans if p.requested == own.plan), plans)

    def next_group(own: LogCompactor, *_: Any) -> Iterable[Args]:
        return ((("group", group_of(own)),),)

    def writes(own: LogCompactor, *_: Any, group: int) -> tuple[Any, ...]:
        last = own.logs + 1 == len(own.groups)
        return (own._replace(step="written" if last else "running its plan", logs=own.logs + 1),)

    def publish(own: LogCompactor) -> tuple[LogCompactor, LogCompaction]:
        return LogCompactor(), LogCompaction(own.plan, own.completed, me)

    yield Row("log_compactor_starts_plan", me, (me, "log_plans", *restores), (me, "log_plans"),
              (at(me, PLANNED),), starts, (stays,) if restores else ())  # fmt: skip
    yield Row("log_compactor_writes_log", me, (me, *restores), (me,), (at(me, "running its plan"),), writes,
              (whole,) if restores else (), next_group)  # fmt: skip
    yield from publication_rows(KIND, me, "written", setting, publish, requested=lambda own: own.plan,
                                check=stands("plan") if restores else None)  # fmt: skip


def group_of(own: LogCompactor) -> int:
    """The file group that it is at."""
    return own.groups[own.logs]


def _started(me: str, started: Plan, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
    own = LogCompactor("running its plan", started.requested, tuple(part.group for part in started.groups))
    return own, tuple(p._replace(runner=me, inflight=True) if p == started else p for p in plans)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"] if isinstance(entry, LogCompaction)}
    for each in values.get("log_plans", ()):
        if each.requested not in done:
            yield Instant(each.requested, "logcompaction", "inflight" if each.inflight else "requested", None)
