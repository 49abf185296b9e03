"""How table services plan and commit under `decision = shared`: under the lock, by an entry for their own item alone.

Only writers announce. A service first publishes the last entry, whose author may have died. It then reads the time of
its plan from the clock, so that the plan of a compaction takes everything that is decided. A service commits in the
same way. No other actor can create its entry first, because that actor would need the lock.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ...kernel.clock import TakeTime
from ...kernel.compactor import COMPACTOR, COMPACTOR_SCHEDULES_PLAN
from ...kernel.compactor import PLANS as PUTS_PLAN
from ...kernel.lock import LOCK_IS_FREE, release_lock, take_lock
from ...kernel.publication import PUBLISHES, TAKES_COMPLETION_TIME, TAKES_LOCK, Publication, Publish
from ...kernel.table import Plan
from ...kernel.writer import give_up
from ...machine.composition import Composition
from ...machine.plans import PlanRunner
from ...machine.transition import Changes, Effect, Transition, become, preset, transition
from ..decision_log import DecisionLog
from ..refusal import REFUSED
from ..rollback.heartbeat import WRITER_GIVES_UP
from ..rollback.rollbacker import ROLLBACKER, ROLLBACKER_REMOVES_INSTANT, Rollbacker
from ..rollback.rules import Rollback
from .author import (
    ALL_PUBLISHED,
    ANNOUNCES_NOTHING,
    DECIDED,
    KNOWS_TAIL,
    OPEN,
    Deciding,
    Log,
    last_known,
    learn_tail,
    publishes_item,
)
from .rules import NO_ENTRY, next_entry, odd_after
from .services import finds_decided

HOLDS = "holds the lock"


ALONE = (COMPACTOR.name, ROLLBACKER.name)
"""The kinds that never announce under `decision = shared`."""


def commits_alone(composition: Composition, kind: str) -> bool:
    """True if actors of a kind do not announce: each creates an entry for its own item, under the lock."""
    return composition.protocol[DecisionLog].decision == "shared" and kind in ALONE


def commit_alone(composition: Composition, each: Publication) -> None:
    """Let an actor commit under the lock, by an entry for its own instant or plan."""
    kind, me = each.kind, each.actor
    holds = preset(hold_instant, publish=each.publish)

    def locking(first: Transition) -> Transition:
        return replace(first, to=HOLDS, guards=(*first.guards, LOCK_IS_FREE), effects=(take_lock, holds))

    composition.select(TAKES_LOCK, actors=[me]).replace(locking)
    # The entry assigns the completion time, and publishing an item is a step of its own.
    composition.select(TAKES_COMPLETION_TIME, PUBLISHES, actors=[me]).remove()
    composition.add(
        transition(f"{kind}_learns_tail", me, at=HOLDS, to=KNOWS_TAIL, effect=learn_tail),
        publishes_item(composition, kind, me),
        transition(f"{kind}_creates_entry", me, at=KNOWS_TAIL, guards=(ALL_PUBLISHED, OPEN), effect=create_own_entry,
                   changes=("own", "entries", "clock")),
        transition(f"{kind}_finds_decided", me, at=KNOWS_TAIL, guards=(ALL_PUBLISHED, DECIDED),
                   effect=finds_decided(each)).extend(release_lock, "lock"),
    )  # fmt: skip


def plan_alone(composition: Composition) -> None:
    """Let services plan under the lock, after they have published the last entry."""
    for me in composition.actors_of(COMPACTOR):
        composition.map_view("request_time", time_after_log, [me])
        _plans(composition, COMPACTOR.name, me, COMPACTOR_SCHEDULES_PLAN, hold_plan)
    for me in composition.actors_of(ROLLBACKER):
        composition.map_view("request_time", time_after_log, [me])
        failed = _plans(composition, ROLLBACKER.name, me, PUTS_PLAN, hold_rollback).guards[-1]
        composition.add(
            transition("rollbacker_finds_nothing_to_plan", me, at=KNOWS_TAIL, effect=become(Rollbacker()),
                       guards=(ANNOUNCES_NOTHING, ALL_PUBLISHED, ~failed)).extend(release_lock, "lock"),
        )  # fmt: skip
        # Asked again under the lock: what it publishes of the last entry may have committed the write meanwhile.
        composition.select(PUTS_PLAN, actors=[me]).require(failed)
    composition.find(ROLLBACKER_REMOVES_INSTANT).require(LOCK_IS_FREE)


def _plans(composition: Composition, kind: str, me: str, action: str, hold: Effect) -> Transition:
    """Split the transition that puts a plan: the actor takes the lock, and chooses its plan. Returns the first half."""
    plans = composition.select(action, actors=[me])

    def planning(puts: Transition) -> Transition:
        # The second effect puts the plan. Here the entry decides it, so that the plan is only remembered.
        choose, _ = puts.effects
        return replace(puts, at=KNOWS_TAIL, to=KNOWS_TAIL, guards=(ANNOUNCES_NOTHING, ALL_PUBLISHED),
                       effects=(choose, hold), changes=("own", "clock"))  # fmt: skip

    begins = transition(f"{kind}_begins_plan", me, at="idle", to=KNOWS_TAIL, changes=("own", "lock"), effect=take_lock,
                        guards=(LOCK_IS_FREE, *plans.one.guards)).extend(learn_tail, "own")  # fmt: skip
    plans.replace(planning)
    composition.add(begins)
    return begins


def refuse_writer(composition: Composition, me: str) -> None:
    """Let a writer that finds its write rolled back release the lock, and take the lock again to remove its instant."""

    def releasing(finds: Transition) -> Transition:
        return replace(finds, to=REFUSED, effects=())

    composition.select("writer_finds_refused", actors=[me]).replace(releasing)
    composition.add(transition(WRITER_GIVES_UP, me, at=REFUSED, guards=(LOCK_IS_FREE,), effect=give_up))


def hold_instant(own: Any, publish: Publish) -> Changes:
    """Remember the instant that the actor is about to commit."""
    return {"own_deciding": Deciding(publish(own._replace(completed=0))[1])}


def hold_plan(own: PlanRunner, me: str, entries: Log) -> Changes:
    """Remember the plan that the actor is about to put. It knows the last entry, because it holds the lock."""
    return {"own_deciding": Deciding(Plan(own.plan, me, False, own.parts), len(entries))}


def hold_rollback(own: Rollbacker, me: str, entries: Log) -> Changes:
    """Remember the rollback that the actor is about to plan."""
    return {"own_deciding": Deciding(Rollback(own.rollback, own.target, me), len(entries))}


def create_own_entry(own: Any, own_deciding: Deciding, entries: Log, clock: int) -> Changes:
    """Create the next entry, which decides the actor's own item alone. Its time is read from the clock."""
    last = last_known(own_deciding, entries)
    # Not before the clock: others take their requested times from it, and an entry completes after them.
    entry = next_entry(last._replace(reserved=max(last.reserved, clock)), {own_deciding.announcement})
    times = (getattr(item, "completed", 0) for item in entry.items)
    deciding = own_deciding._replace(tail=own_deciding.tail + 1)
    return {"own": own, "own_deciding": deciding, "entries": (*entries, entry), "clock": max(clock, *times)}


def time_after_log(entries: Log) -> TakeTime:
    """Redefine the view `request_time` for services: a plan is later than the log, and than all earlier requests."""
    return partial(_time_after_log, (entries or (NO_ENTRY,))[-1].reserved)


def _time_after_log(last: int, clock: int, after: int = 0, action: str = "") -> tuple[int, int]:
    time = odd_after(max(clock, after, last))
    return time, time
