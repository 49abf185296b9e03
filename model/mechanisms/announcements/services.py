"""How actors end a decision, and how table services plan if their plans are announced.

A compactor learns the tail of the decision log, and plans what completed before the time that the last entry reserved.
That time is the requested time of the plan, the barrier. Another entry decides the plan, perhaps after further commits:
they complete after the barrier. A cleaner plans in the same way, at a later time that the entry reserves. A rollbacker
announces the rollback of a failed write, and deletes its files only after an entry has decided the rollback.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ...kernel.clock import TakeTime
from ...kernel.compactor import COMPACTOR, COMPACTOR_SCHEDULES_PLAN, LOG_TO_COMPACT
from ...kernel.compactor import PLANS as PUTS_PLAN
from ...kernel.publication import Publication, Publish
from ...kernel.table import Plan, Plans, Table, table_of
from ...kernel.timeline import COMPLETED_TABLE
from ...kernel.writer import WRITER, give_up
from ...machine.composition import Composition
from ...machine.plans import PLANNED, PlanRunner
from ...machine.transition import Branch, Changes, Effect, Transition, become, preset, transition
from ..cleaning.mechanism import (
    CLEAN_LEFT,
    CLEANER,
    CLEANER_SCHEDULES_CLEAN,
    FILES_TO_DELETE,
    NO_CLEAN_PENDING,
    Cleaner,
)
from ..cleaning.mechanism import PLANNED as CLEAN_PLANNED
from ..cleaning.rules import Clean
from ..restores.mechanism import RESTORER
from ..rollback.rollbacker import PLANNED as ROLLBACK_PLANNED
from ..rollback.rollbacker import ROLLBACKER, Rollbacker
from ..rollback.rules import Rollback
from ..savepoints import SAVEPOINTER
from .author import ALL_PUBLISHED, ANNOUNCED, ANNOUNCES_NOTHING, KNOWS_TAIL, Deciding, Log, announce, forget, learn_tail
from .restoring import drop_refused, end_savepoint, run_restore
from .rules import NO_ENTRY, PLANS, clean_time, even_after


def even_time() -> TakeTime:
    """Define the view `request_time`: clocks return even times, so that no entry assigns a requested time."""
    return _even_time


def _even_time(clock: int, after: int = 0, action: str = "") -> tuple[int, int]:
    time = even_after(max(clock, after))
    return time, time


# How an actor ends a decision.


def finds_decided(each: Publication) -> Effect:
    """Return the effect by which an actor continues once its announcement is decided: it runs its plan, or ends."""
    ends = preset(end_publication, publish=each.publish)
    if each.kind == SAVEPOINTER.name:
        return end_savepoint
    if each.kind == WRITER.name:
        return ends
    return Branch(announces_plan, (RUNS[each.kind], forget), (ends,))


def finds_refused(each: Publication) -> Effect:
    """Return the effect by which an actor ends once an entry has decided the opposite of what it announced."""
    ends: dict[str, Effect] = {
        WRITER.name: give_up, COMPACTOR.name: become(PlanRunner()), CLEANER.name: become(Cleaner()),
        SAVEPOINTER.name: drop_refused,
    }  # fmt: skip
    return ends.get(each.kind) or become(Rollbacker())


def announces_plan(own_deciding: Deciding) -> bool:
    return type(own_deciding.announcement) in PLANS


def end_publication(own: Any, publish: Publish) -> Changes:
    """End the operation: the instant that the actor announced is on the timeline."""
    return {"own": publish(own)[0]}


def run_compaction(own: PlanRunner) -> Changes:
    """Prepare to run the plan, which an entry has decided."""
    return {"own": own._replace(step=PLANNED, groups=tuple(part.group for part in own.parts), parts=())}


def run_clean(own: Cleaner) -> Changes:
    """Prepare to run the clean, which an entry has decided."""
    return {"own": own._replace(step=CLEAN_PLANNED, horizon=0)}


def run_rollback(own: Rollbacker) -> Changes:
    """Prepare to run the rollback, which an entry has decided."""
    return {"own": own._replace(step=ROLLBACK_PLANNED)}


RUNS: dict[str, Effect] = {
    COMPACTOR.name: run_compaction, CLEANER.name: run_clean, ROLLBACKER.name: run_rollback,
    RESTORER.name: run_restore,
}  # fmt: skip
"""Each kind that announces plans, and the effect by which it prepares to run one that is decided."""


CAN_PLAN = (ANNOUNCES_NOTHING, ALL_PUBLISHED)
"""The conditions to make a plan, apart from those that its kind of actor has."""


# How a compactor plans.


def plan_compactions(composition: Composition, me: str) -> None:
    """Let a compactor announce its plan, and plan from the entries up to the last one that it knows."""
    composition.map_view("request_time", reserved_time, [me])
    composition.map_view(COMPLETED_TABLE, decided_table, [me])
    schedules = composition.select(COMPACTOR_SCHEDULES_PLAN, actors=[me])
    begins = transition("compactor_begins_plan", me, at="idle", to=KNOWS_TAIL, guards=schedules.one.guards,
                        effect=learn_tail)  # fmt: skip

    def announcing(plans: Transition) -> Transition:
        take_barrier, _ = plans.effects
        return replace(plans, at=KNOWS_TAIL, to=ANNOUNCED, guards=(*CAN_PLAN, *some),
                       effects=(take_barrier, announce_compaction), changes=("own", "clock", "announced"))  # fmt: skip

    some = (LOG_TO_COMPACT,) if len(composition.actors_of(COMPACTOR)) > 1 else ()
    schedules.replace(announcing)
    composition.add(begins)
    if some:  # another compactor may have planned all that there was
        composition.add(transition("compactor_finds_nothing_to_plan", me, at=KNOWS_TAIL,
                                   guards=(*CAN_PLAN, ~LOG_TO_COMPACT), effect=become(PlanRunner())))  # fmt: skip


def last_reserved(own_deciding: Deciding, entries: Log) -> int:
    """Return the time that the last entry reserves: the last one that the actor knows, or the last one of the log."""
    # In a guard that is asked before the compactor has learnt a tail, the whole log stands for what it would learn.
    return (entries[: own_deciding.tail] or entries or (NO_ENTRY,))[-1].reserved


def reserved_time(own_deciding: Deciding, entries: Log) -> TakeTime:
    """Redefine the view `request_time` for compactors: a plan has the time that the last known entry reserves."""
    return partial(_reserved_time, last_reserved(own_deciding, entries))


def _reserved_time(reserved: int, clock: int, after: int = 0, action: str = "") -> tuple[int, int]:
    return reserved, clock


def decided_table(own_deciding: Deciding, entries: Log, published: tuple[Any, ...], plans: Plans) -> Table:
    """Redefine the view `completed_table` for compactors: what completed before the time of the plan."""
    barrier = last_reserved(own_deciding, entries)
    return table_of(tuple(each for each in published if each.completed < barrier), plans)


def announce_compaction(own: PlanRunner, me: str, announced: frozenset[Any]) -> Changes:
    return announce(Plan(own.plan, me, False, own.parts), announced)


# How a cleaner plans.


def plan_cleans(composition: Composition, me: str) -> None:
    """Let a cleaner announce its plan, and plan from the entries up to the last one that it knows."""
    composition.map_view("request_time", reserved_clean_time, [me])
    composition.map_view(COMPLETED_TABLE, decided_table, [me])

    def announcing(plans: Transition) -> Transition:
        take_time, _ = plans.effects
        return replace(plans, at=KNOWS_TAIL, to=ANNOUNCED, guards=(*CAN_PLAN, *((FILES_TO_DELETE,) if saves else ())),
                       effects=(take_time, announce_clean), changes=("own", "clock", "announced"))  # fmt: skip

    saves = bool(composition.actors_of(SAVEPOINTER))
    composition.select(CLEANER_SCHEDULES_CLEAN, actors=[me]).replace(announcing)
    if saves:  # a savepoint may have pinned all files that there were to delete
        composition.add(transition("cleaner_finds_nothing_to_plan", me, at=KNOWS_TAIL,
                                   guards=(*CAN_PLAN, ~FILES_TO_DELETE), effect=become(Cleaner())))  # fmt: skip
    composition.add(transition("cleaner_begins_plan", me, at="idle", to=KNOWS_TAIL, effect=learn_tail,
                               guards=(CLEAN_LEFT, NO_CLEAN_PENDING, FILES_TO_DELETE)))  # fmt: skip


def reserved_clean_time(own_deciding: Deciding, entries: Log) -> TakeTime:
    """Redefine the view `request_time` for cleaners: a clean has the time that the last known entry reserves for it."""
    return partial(_reserved_time, clean_time(last_reserved(own_deciding, entries)))


def announce_clean(own: Cleaner, me: str, announced: frozenset[Any]) -> Changes:
    return announce(Clean(own.clean, own.horizon, me, False, own.groups), announced)


# How a rollbacker plans.


def plan_rollbacks(composition: Composition, me: str) -> None:
    """Let a rollbacker announce the rollback of a failed write."""

    def announcing(plans: Transition) -> Transition:
        choose, _ = plans.effects
        return replace(plans, to=ANNOUNCED, effects=(choose, announce_rollback), changes=("own", "clock", "announced"))

    composition.select(PUTS_PLAN, actors=[me]).replace(announcing)


def announce_rollback(own: Rollbacker, me: str, clock: int, announced: frozenset[Any]) -> Changes:
    """Announce the rollback of the chosen write, with the next time of the clock as its requested time."""
    time = even_after(clock - 1)
    announcement = Rollback(time, own.target, me)
    return {"own": own._replace(rollback=time), "clock": time, **announce(announcement, announced)}
