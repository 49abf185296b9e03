"""Models locks that are lost while the holder is alive (fault set F1), because a lease has expired or the lock service
has failed.

The holder of a lost lock is not notified and cannot detect the loss. Planning takes one step under a reliable lock, but
two steps here; other actors may act in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..kernel.lock import release_lock, take_lock
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..machine.plans import Planner
from ..machine.transition import (
    DEAD,
    Action,
    ActorState,
    Branch,
    Changes,
    Component,
    Guard,
    Transition,
    limit_left,
    preset,
    transition,
)

LOCK_IS_LOST = "lock_is_lost"

TAKES_TIME, PUTS_PLAN = "takes time of plan", "puts plan"
"""Tags of the two halves of a transition that puts a plan."""


class LostLocks(Limits):
    """The limit on the number of lost locks."""

    lock_losses: int = limit(0, "how often the lock of a live holder is lost (fault set F1)")


def compose(composition: Composition) -> None:
    """Let every actor lose its lock, even between choosing a plan's requested time and putting the plan."""
    if not composition.world[LostLocks].lock_losses:
        return
    composition.add_component("losses", 0)
    composition.map_view("holds_lock", believes)
    for actors in composition.actors.values():
        for me in actors:
            composition.add(transition(LOCK_IS_LOST, me, guards=(IS_ALIVE, HOLDS_LOCK, LOSS_LEFT), effect=lose_lock,
                                       changes=("lock", "losses")))  # fmt: skip
    for planner in composition.facts(Planner).values():
        _divide(composition, planner)


def believes() -> bool:
    """Define the view `holds_lock` as always True, because an actor cannot detect that the lock is lost."""
    return True


def is_alive(own: ActorState) -> bool:
    return own.step != DEAD


def has_lock(lock: str | None, me: str) -> bool:
    return lock == me


IS_ALIVE = Guard("{me} must be alive", is_alive)
HOLDS_LOCK = Guard("{me} must hold the lock", has_lock)
LOSS_LEFT = limit_left("a lock must be left to be lost", "losses", lambda world: world[LostLocks].lock_losses)


def lose_lock(losses: int) -> Changes:
    """Free the lock without notifying its holder."""
    return {"lock": None, "losses": losses + 1}


def _divide(composition: Composition, planner: Planner) -> None:
    takes, timed = _WORDS.get(planner.kind, (f"{planner.kind}_takes_time", "has a time for its plan"))
    there = preset(plan_is_there, plans=Component(planner.plans), requested=planner.requested)

    def first(whole: Transition) -> Transition:
        half = replace(whole, action=takes, to=timed, effects=whole.effects[:-1], changes=("own", "clock"))
        return replace(half, tags=whole.tags | {TAKES_TIME}).extend(take_lock, "lock")

    def then(whole: Transition) -> Transition:
        puts = Branch(there, (release_lock, planner.give_up), (release_lock, whole.effects[-1]))
        changes = (name for name in whole.changes if name not in ("own", "clock"))
        return transition(f"{planner.kind}_puts_plan", planner.actor, at=timed, effect=puts,
                          changes=("own", *changes, "lock"), tags=(PUTS_PLAN,))  # fmt: skip

    composition.select(planner.action, actors=[planner.actor]).split(first, then)


def plan_is_there(own: Any, plans: tuple[Any, ...], requested: str) -> bool:
    """True if a plan with the actor's requested time already exists, because the actor has lost its lock."""
    return any(plan.requested == getattr(own, requested) for plan in plans)


_WORDS = {
    "compactor": ("compactor_takes_barrier", "has a barrier"),
    "cleaner": ("cleaner_takes_time", "has a time for its clean"),
    "rollbacker": ("rollbacker_takes_time", "has a time for its rollback"),
}
"""Kind -> the action of the first half, and the step after it, where they have other names."""


def _halves() -> Iterator[Action]:
    halves = {
        "cleaner": ("finds files that no read needs, takes a requested time", "takes a time for its clean",
                    "puts that plan, or finds a later decision", "puts its plan of a clean"),
        "compactor": ("lists what is completed, takes a requested time", "takes a barrier",
                      "puts the plan for that barrier, or finds a later decision",
                      "puts its plan"),
        "log_compactor": ("lists what is completed, takes a requested time", "takes a time for its log compaction",
                          "puts the plan for that time, or finds a later decision",
                          "puts its plan over logs"),
        "overwriter": ("looks for pending plans, takes a requested time", "takes a time for its replace",
                     "puts the plan of that replace, or finds a later decision",
                     "puts the plan of its replace"),
        "restorer": ("finds what is to be undone, takes a requested time", "finds what a restore would undo",
                     "puts the plan of that restore, or finds a later decision",
                     "puts the plan of its restore"),
        "rollbacker": ("finds a failed write, takes a requested time", "finds a failed write",
                       "puts the plan for that write, or finds a later decision",
                       "puts its plan to roll back"),
    }  # fmt: skip
    for kind, (takes, says, puts, says_put) in halves.items():
        action = _WORDS.get(kind, (f"{kind}_takes_time", ""))[0]
        service = kind not in ("overwriter", "restorer")
        yield Action(action, f"under a lock that can be lost: {takes}", f"{{actor}} {says}", service=service)
        yield Action(f"{kind}_puts_plan", puts, f"{{actor}} {says_put}", service=service)


MECHANISM = Mechanism(
    compose=compose,
    limits=LostLocks,
    after=("clocks", "*"),
    actions=(
        Action(LOCK_IS_LOST, "the lock of a living holder is free again, and the holder is not informed",
               "the lock of {actor} is lost, and {actor} does not notice", service=True),
        *_halves(),
    ),
)  # fmt: skip
