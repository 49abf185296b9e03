"""Compactors: a plan made under the lock while writers go on, base files, a completed instant; plans of the dead.

RFC-66, "Non-Serial Compaction Plan Schedule". A plan fixes its inputs when it is made; whoever runs it writes the same
base files, so that another compactor can take it up again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..reads.schemas import writes_columns
from ..services.planning import plan
from ..services.restoring import plan_stands, stands
from ..step import Action, Args, Guard, Row
from ..table import Compaction, DataFile, GroupPlan, Instant, Plan, completes_plan, table_of
from ..timeline.clock import requests_of
from ..timeline.decisions import ALL_PUBLISHED, last_time, undecided
from ..timeline.publication import given_back, publication_actions, publication_rows, put_by_another
from ..timeline.resuming import resuming
from ..timeline.waiting import reading
from . import Setting
from .writer import KIND as WRITER
from .writer import unpublished

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


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _scheduling(me, setting)
        yield writes_columns(setting, _resuming(me, setting))
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Iterator[Row]:
    world, protocol, mine = setting.world, setting.protocol_of(me), setting.of(KIND)
    times, log = requests_of(setting, me), ("decisions",) if protocol.decision == "log" else ()
    fence = put_by_another(setting)
    sees_logs = protocol.plan_takes == "any_log" or protocol.first_slice == "first_requested"
    writers = setting.of(WRITER) if sees_logs or protocol.scheduling == "serial" or times.reads else ()
    rolled_back = setting.if_any("rollbacks") if sees_logs else ()
    log_plans, restores = setting.if_any("log_plans"), setting.if_any("restores")

    def barrier(clock: int, published: Any, plans: Any, others: tuple[Any, ...], ahead: int) -> tuple[int, int]:
        after = last_time(others[-1]) if log else 0
        return times.take("commit", clock, (published, plans, *others[: len(writers)]), ahead, after=after)

    @lru_cache(maxsize=16)  # guard, choices and effect all ask for them
    def inputs(time: int, published: tuple[Any, ...], plans: tuple[Plan, ...], others: tuple[Any, ...]) -> Any:
        undone = others[len(writers)] if rolled_back else ()
        logs = unpublished(setting, dict(zip(writers, others, strict=False)), undone) if sees_logs else ()
        being_compacted = others[len(writers) + len(rolled_back)] if log_plans else ()
        return plan(table_of(published, plans, logs, being_compacted), world.groups, time, protocol)

    def readings(own: Compactor, lock: None, clock: int, published: Any, plans: Any, *others: Any) -> Iterator[Args]:
        """Those by which there is a log to compact: one that a clock behind gives may lie before every completion."""
        for args in times.clock.readings():
            ahead = next((value for _, value in args if isinstance(value, int)), 0)
            if inputs(barrier(clock, published, plans, others, ahead)[0], published, plans, others):
                yield args

    def made(clock: int, published: Any, plans: Any, *others: Any, ahead: int = 0) -> tuple[Plan, int]:
        time, later = barrier(clock, published, plans, others, ahead)
        return Plan(time, me, False, inputs(time, published, plans, others)), later

    def schedules(own: Compactor, lock: None, *seen: Any, **args: int) -> tuple[Any, ...]:
        new, later = made(*seen, **args)
        decided = ((*seen[-1], new.requested),) if log else ()
        return _planned(new), later, (*seen[2], new), *decided

    def takes_barrier(own: Compactor, lock: None, *seen: Any, **args: int) -> tuple[Any, ...]:
        new, later = made(*seen, **args)
        given = Compactor("given a barrier", new.requested, parts=new.groups, seen=len(seen[-1]) if log else 0)
        return given, me, later, *((),) * len(fence)

    def gone(seen: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(seen[-1 - len(log)]) if restores else ()

    left = Guard("a compaction must be left", lambda *v: ever_made(mine, v[4], gone(v)) < world.compactions, True,
                 rests_on=("plans", *restores))  # fmt: skip
    there = Guard("there must be a log to compact", lambda *v: next(iter(readings(*v)), None) is not None)
    guards = [lock_is_free(), left, there]
    if protocol.scheduling == "serial":
        guards.append(Guard("nobody may be writing", lambda *v: not any(w.requested for w in v[5 : 5 + len(writers)])))
    if log:
        guards.append(Guard(ALL_PUBLISHED, lambda *v: not undecided(v[-1], v[3])))
    reads = (me, "lock", "clock", "published", "plans", *writers, *rolled_back, *log_plans, *restores, *log)
    if world.lock_losses:
        yield reading(setting, Row("compactor_takes_barrier", me, reads, (me, "lock", "clock", *fence),
                                   (at(me, "idle"),), takes_barrier, tuple(guards), readings))  # fmt: skip
        yield _putting(me, log)
    else:
        yield Row("compactor_schedules_plan", me, reads, (me, "clock", "plans", *log), (at(me, "idle"),),
                  schedules, tuple(guards), readings)  # fmt: skip


def ever_made(compactors: tuple[str, ...], plans: tuple[Plan, ...], restores: tuple[Any, ...]) -> int:
    """How many compactions were planned, those that a restore has undone included."""
    return made_by(compactors, (*plans, *(plan for each in restores for plan in each.plans)))


def made_by(compactors: tuple[str, ...], plans: tuple[Plan, ...]) -> int:
    """How many plans are compactions: a replacing write makes a plan, too."""
    return sum(each.runner in compactors for each in plans)


def _planned(new: Plan) -> Compactor:
    return Compactor("about to start its plan", new.requested, tuple(part.group for part in new.groups))


def _putting(me: str, log: tuple[str, ...]) -> Row:
    """The plan of a barrier taken before, under a lock that may be another's by now."""

    def puts(own: Compactor, lock: str | None, plans: tuple[Plan, ...], *decisions: tuple[Any, ...]) -> tuple[Any, ...]:
        there = any(plan.requested == own.plan for plan in plans)  # put by another who read the same time
        if there or (log and len(decisions[0]) > own.seen):
            return Compactor(), given_back(me, lock), plans, *decisions
        new = Plan(own.plan, me, False, own.parts)
        decided = ((*decisions[0], new.requested),) if log else ()
        return _planned(new), given_back(me, lock), (*plans, new), *decided

    own_and_others = (me, "lock", "plans", *log)
    return Row("compactor_puts_plan", me, own_and_others, own_and_others, (at(me, "given a barrier"),), puts)


def _resuming(me: str, setting: Setting) -> Row:
    # What is decided needs no runner any more: whoever decides next publishes it.
    known = "decisions" if setting.protocol.decision == "log" else "published"
    return resuming("compactor_resumes_plan", me, setting.of(KIND), known=known, plans="plans", finished=Compaction,
                    take_up=lambda own, plan, plans: _started(me, setting, plan, plans))  # fmt: skip


def _running(me: str, setting: Setting) -> Iterator[Row]:
    def starts(own: Compactor, plans: tuple[Plan, ...], *_: Any) -> tuple[Any, ...]:
        return _started(me, setting, next(p for p in plans if p.requested == own.plan), plans)

    def next_group(own: Compactor, *_: Any) -> Iterable[Args]:
        return ((("group", group_of(own)),),)

    def writes(own: Compactor, *_: Any, group: int) -> tuple[Any, ...]:
        last = own.bases + 1 == len(own.groups)
        return (own._replace(step="written" if last else "running its plan", bases=own.bases + 1),)

    def is_there(own: Compactor, plans: tuple[Plan, ...], deleted: frozenset[DataFile], *_: Any) -> bool:
        parts = (p.of(own.groups[own.bases]) for p in plans if p.requested == own.plan)
        return all(part is not None and deleted.isdisjoint(part.files) for part in parts)

    # Only a clean that breaks its promise deletes what a pending plan takes; a restore undoes both.
    cleaned = ("plans", "deleted") if setting.of("cleaner") else ()
    there = (Guard("the files that the plan takes must be there", is_there),) if cleaned else ()
    restores = setting.if_any("restores")
    stays, whole = plan_stands(group_of)

    def publish(own: Compactor) -> tuple[Compactor, Compaction]:
        return Compactor(), Compaction(own.plan, own.completed, me)

    yield writes_columns(setting, Row(
        "compactor_starts_plan", me, (me, "plans", *restores), (me, "plans"),
        (at(me, "about to start its plan"),), starts, (stays,) if restores else ()))  # fmt: skip
    yield Row("compactor_writes_base", me, (me, *cleaned, *restores), (me,), (at(me, "running its plan"),), writes,
              (*there, whole) if restores else there, next_group)  # fmt: skip
    yield from publication_rows(KIND, me, "written", setting, publish, requested=lambda own: own.plan,
                                check=stands("plan") if restores else None)  # fmt: skip


def group_of(own: Compactor) -> int:
    """The file group that it is at."""
    return own.groups[own.bases]


def _started(me: str, setting: Setting, started: Plan, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
    """Whose rules its base files are merged by, the runner decides, not who made the plan."""
    own = Compactor("running its plan", started.requested, tuple(part.group for part in started.groups))
    now = started._replace(runner=me, inflight=True, unmarked=setting.protocol_of(me).services == "foreign")
    return own, tuple(now if p == started else p for p in plans)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"] if completes_plan(entry)} if values["plans"] else ()
    for each in values["plans"]:
        if each.requested not in done:
            yield Instant(each.requested, "compaction", "inflight" if each.inflight else "requested", None)
