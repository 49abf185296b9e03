"""Compactors: a plan made under the lock while writers go on, base files, a completed instant; plans of the dead.

RFC-66, "Non-Serial Compaction Plan Schedule". A plan fixes its inputs when it is made; whoever runs it writes the same
base files, so that another compactor can take it up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..kernel.planning import plan
from ..kernel.table import Compaction, DataFile, GroupPlan, Instant, Plan, completes_plan, table_of
from ..machine.marks import with_mark
from ..machine.transition import Action, Args, Changes, Guard, Transition, given, transition
from ..mechanisms.added_columns import writes_columns
from ..mechanisms.foreign_services import Unmarked
from ..mechanisms.log_compaction import with_log_plans
from ..mechanisms.restores import Restore
from ..mechanisms.restores.checks import PLAN_STANDS, input_stands, stands
from ..mechanisms.rollback import Rollback
from ..protocol import Protocol
from ..rules import rules_of
from ..timeline.clock import clock_readings, requests_of
from ..timeline.decisions import Decisions, last_time
from ..timeline.plans_by_log import Planning, planning
from ..timeline.publication import publication, publication_actions
from ..timeline.resuming import resuming, starting
from ..world import World
from . import Setting
from .writer import Writer, unpublished

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]
Writers = Mapping[str, Writer]
Inputs = Callable[..., tuple[GroupPlan, ...]]
"""What a plan at a barrier takes: of (barrier, published, plans, writers, rollbacks, plans of log compactions)."""

KIND, PREFIX = "compactor", "c"
CHOOSES = ("completion_time", "plan_takes", "scheduling", "services", "slicing")
IN_RANDOM_WORLDS = 2
SERVICE = True
ACTIONS = (
    Action("compactor_schedules_plan", "under the lock: takes a requested time and puts the plan",
           "{actor} schedules a plan"),
    Action("compactor_takes_barrier", "under a lock that can be lost: lists what is completed, takes a requested time",
           "{actor} takes a barrier"),
    Action("compactor_puts_plan", "puts the plan for that barrier, or finds that something was decided meanwhile",
           "{actor} puts its plan"),
    Action("compactor_starts_plan", "puts the inflight instant of the plan it scheduled", "{actor} starts its plan"),
    Action("compactor_resumes_plan", "takes up the oldest pending plan whose runner died",
           "{actor} takes up the plan of a dead compactor"),
    Action("compactor_writes_base", "puts the base file of one file group", "{actor} writes the base of group {group}",
           joins=True),
    *publication_actions(KIND),
)  # fmt: skip


class Compactor(NamedTuple):
    """`plan` is the requested time of the plan it scheduled or runs, `groups` those it works on, `bases` those done;
    `seen` (decision log only) is how many decisions there were when it looked. `until`, `then`: while it waits for all
    clocks."""

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    bases: int = 0
    completed: int = 0
    seen: int = 0
    dead: bool = False
    parts: tuple[GroupPlan, ...] = ()
    until: int = 0
    then: str = ""

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    return {"plans": (), **{me: Compactor() for me in setting.of(KIND)}}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield from _scheduling(me, setting)
        start = partial(started, setting.protocol_of(me).services == "foreign")
        yield writes_columns(setting, resuming("compactor_resumes_plan", KIND, me, setting, plans="plans",
                                               finished=Compaction, start=start))  # fmt: skip
        yield from _running(me, setting, start)


def _scheduling(me: str, setting: Setting) -> Iterator[Transition]:
    protocol = setting.protocol_of(me)
    sees_logs = protocol.plan_takes == "any_log" or protocol.first_slice == "first_requested"
    serial, lists = protocol.scheduling == "serial", requests_of(setting.world, setting.protocol).lists
    unread: dict[str, Any] = {} if sees_logs else {"rollbacks": ()}
    if not (sees_logs or serial or lists):
        unread["every_writer"] = {}
    # The guard, the arguments and the effect all ask for the inputs.
    inputs = lru_cache(maxsize=16)(partial(plan_inputs, setting, protocol, sees_logs))
    guards = [
        Guard("a compaction must be left", given(compaction_is_left, compactors=setting.of(KIND)), limit=True),
        Guard("there must be a log to compact", given(some_reading, inputs=inputs, **unread)),
        *([Guard("nobody may be writing", nobody_writes)] if serial else []),
    ]
    yield from planning(me, setting, Planning(
        actions=("compactor_schedules_plan", "compactor_takes_barrier", "compactor_puts_plan"),
        guards=tuple(guards),
        arguments=given(readings_with_logs, inputs=inputs, **unread),
        look=given(take_barrier, inputs=inputs, **unread),
        put=put_plan,
        plans="plans",
        requested="plan",
        too_late=become_idle,
        timed="given a barrier",
    ))  # fmt: skip


def barrier_of(
    setting: Setting, clock: int, published: Published, plans: Plans, writers: Writers, decisions: Decisions, ahead: int
) -> tuple[int, int]:
    """The requested time of a plan, and the clock afterwards."""
    times = requests_of(setting.world, setting.protocol)
    return times.take("commit", clock, (published, plans, *writers.values()), ahead, after=last_time(decisions))


def plan_inputs(
    setting: Setting, protocol: Protocol, sees_logs: bool, barrier: int, published: Published, plans: Plans,
    writers: tuple[tuple[str, Writer], ...], rollbacks: tuple[Rollback, ...], log_plans: Plans,
) -> tuple[GroupPlan, ...]:  # fmt: skip
    logs = unpublished(setting, dict(writers), rollbacks) if sees_logs else ()
    table = with_log_plans(table_of(published, plans, logs), published, log_plans)
    return plan(rules_of(protocol), table, setting.world.groups, barrier)


def readings_with_logs(
    clock: int, published: Published, plans: Plans, every_writer: Writers, setting: Setting, inputs: Inputs,
    rollbacks: tuple[Rollback, ...] = (), log_plans: Plans = (), decisions: Decisions = (),
) -> Iterable[Args]:  # fmt: skip
    """The clock readings by which there is a log to compact: a clock behind may give a barrier before all of them."""
    for args in clock_readings(setting):
        ahead = next((value for _, value in args if isinstance(value, int)), 0)
        barrier, _ = barrier_of(setting, clock, published, plans, every_writer, decisions, ahead)
        if inputs(barrier, published, plans, tuple(every_writer.items()), rollbacks, log_plans):
            yield args


def some_reading(
    clock: int, published: Published, plans: Plans, every_writer: Writers, setting: Setting, inputs: Inputs,
    rollbacks: tuple[Rollback, ...] = (), log_plans: Plans = (), decisions: Decisions = (),
) -> bool:  # fmt: skip
    found = readings_with_logs(clock, published, plans, every_writer, setting, inputs, rollbacks, log_plans, decisions)
    return next(iter(found), None) is not None


def take_barrier(
    clock: int, published: Published, plans: Plans, every_writer: Writers, setting: Setting, inputs: Inputs,
    rollbacks: tuple[Rollback, ...] = (), log_plans: Plans = (), decisions: Decisions = (), *, ahead: int = 0,
) -> Changes:  # fmt: skip
    """List what is completed; the requested time of the plan is the barrier, and the plan takes every log before it."""
    barrier, later = barrier_of(setting, clock, published, plans, every_writer, decisions, ahead)
    parts = inputs(barrier, published, plans, tuple(every_writer.items()), rollbacks, log_plans)
    return {"own": Compactor(plan=barrier, parts=parts), "clock": later}


def put_plan(own: Compactor, me: str, plans: Plans) -> Changes:
    """Put the plan."""
    planned = Compactor("about to start its plan", own.plan, tuple(part.group for part in own.parts))
    return {"own": planned, "plans": (*plans, Plan(own.plan, me, False, own.parts))}


def become_idle() -> Changes:
    return {"own": Compactor()}


def compaction_is_left(
    plans: Plans, world: World, compactors: tuple[str, ...], restores: tuple[Restore, ...] = ()
) -> bool:
    return ever_made(compactors, plans, restores) < world.compactions


def nobody_writes(every_writer: Writers) -> bool:
    return not any(writer.requested for writer in every_writer.values())


def ever_made(compactors: tuple[str, ...], plans: tuple[Plan, ...], restores: tuple[Any, ...]) -> int:
    """How many compactions were planned, those that a restore has undone included."""
    return made_by(compactors, (*plans, *(plan for each in restores for plan in each.plans)))


def made_by(compactors: tuple[str, ...], plans: tuple[Plan, ...]) -> int:
    """How many plans are compactions: a replacing write makes a plan, too."""
    return sum(each.runner in compactors for each in plans)


def _running(me: str, setting: Setting, start: Any) -> Iterator[Transition]:
    restores = "restores" in setting.first
    starts = starting("compactor_starts_plan", me, at="about to start its plan", plans="plans", field="plan",
                      start=start)  # fmt: skip
    yield writes_columns(setting, starts.require(PLAN_STANDS) if restores else starts)
    # Only a clean that breaks its promise deletes what a pending plan takes; a restore undoes both.
    there = (Guard("the files that the plan takes must be there", inputs_are_there),) if setting.of("cleaner") else ()
    whole = (input_stands(group_of),) if restores else ()
    yield transition("compactor_writes_base", me, at="running its plan", guards=(*there, *whole), effect=write_base,
                     arguments=next_group)  # fmt: skip
    yield from publication(KIND, me, "written", setting, partial(published_compaction, me), requested="plan",
                           check=stands("plan") if restores else None)  # fmt: skip


def inputs_are_there(own: Compactor, plans: Plans, deleted: frozenset[DataFile]) -> bool:
    parts = (plan.of(group_of(own)) for plan in plans if plan.requested == own.plan)
    return all(part is not None and deleted.isdisjoint(part.files) for part in parts)


def next_group(own: Compactor) -> Iterable[Args]:
    return ((("group", group_of(own)),),)


def write_base(own: Compactor) -> Changes:
    """Merge the planned logs into a base file."""
    last = own.bases + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else "running its plan", bases=own.bases + 1)}


def published_compaction(me: str, own: Compactor) -> tuple[Compactor, Compaction]:
    """The compactor after its compaction is published, and the entry."""
    return Compactor(), Compaction(own.plan, own.completed, me)


def group_of(own: Compactor) -> int:
    """The file group that it is at."""
    return own.groups[own.bases]


def started(foreign: bool, own: Compactor, me: str, plan: Plan, plans: Plans) -> tuple[Compactor, Plans]:
    """Its runner decides by whose rules the base files are merged, not the actor that made the plan."""
    own = Compactor("running its plan", plan.requested, tuple(part.group for part in plan.groups))
    now = plan._replace(runner=me, inflight=True, marks=with_mark(plan.marks, Unmarked(foreign)))
    return own, tuple(now if each == plan else each for each in plans)


def pending(plans: tuple[Plan, ...], published: tuple[Any, ...]) -> Iterator[Instant]:
    """The pending compactions."""
    done = {entry.requested for entry in published if completes_plan(entry)} if plans else ()
    for each in plans:
        if each.requested not in done:
            yield Instant(each.requested, "compaction", "inflight" if each.inflight else "requested", None)
