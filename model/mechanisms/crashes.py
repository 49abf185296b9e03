"""An actor may crash between any two steps of an operation. If an actor crashes while it holds a lock, the lock
expires.

A crashed actor stays dead, and its files remain in storage. The instant of a crashed writer stays pending. Other
mechanisms let live actors resume the plan of a crashed actor (`rivals`), or roll back the write of a crashed writer
(`rollback`).
"""

from __future__ import annotations

from typing import Literal

from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import CRASHES, DEAD, Action, ActorState, Changes, Guard, limit_left, preset, transition

ACTOR_CRASHES = "actor_crashes"
LOCK_EXPIRES = "lock_expires"


class LockExpiry(Options):
    """The option that decides whether the lock of a crashed actor expires."""

    lock_expiry: Literal["expires", "never"] = option(
        "expires",
        "whether the lock of a dead holder expires. If it never does, no other actor can publish after the crash",
    )


class Crashes(Limits):
    """The limit on the number of crashes."""

    crashes: int = limit(0, "how many actors may crash", in_random_worlds=(0, 0, 1))


def compose(composition: Composition) -> None:
    """Let every actor crash, up to the limit on crashes."""
    composition.add_component("crashes", 0)
    everyone = [(kind, me) for kind, actors in composition.actors.items() for me in actors]
    for kind, me in everyone if composition.world[Crashes].crashes else ():
        busy = preset(is_busy, idle_steps=composition.idle_steps[kind])
        guards = (Guard("{me} must be alive and have begun an operation", busy), CRASH_LEFT)
        composition.add(transition(ACTOR_CRASHES, me, guards=guards, effect=crash, changes=("own", "crashes"),
                                   tags=(CRASHES,)))  # fmt: skip
        if composition.protocol[LockExpiry].lock_expiry != "never":
            composition.add(transition(LOCK_EXPIRES, me, guards=(IS_DEAD, HOLDS_LOCK), effect=expire_lock,
                                       changes=("lock",)))  # fmt: skip


def is_busy(own: ActorState, idle_steps: tuple[str, ...]) -> bool:
    return own.step != DEAD and own.step not in idle_steps


def is_dead(own: ActorState) -> bool:
    return own.step == DEAD


def has_lock(lock: str | None, me: str) -> bool:
    return lock == me


IS_DEAD = Guard("{me} must be dead", is_dead)
HOLDS_LOCK = Guard("{me} must hold the lock", has_lock)
CRASH_LEFT = limit_left("a crash must be left", "crashes", lambda world: world[Crashes].crashes)


def crash(own: ActorState, crashes: int) -> Changes:
    """Let the actor crash. The files that the actor has put remain in storage."""
    return {"own": own._replace(step=DEAD), "crashes": crashes + 1}


def expire_lock() -> Changes:
    """Free the lock of a crashed actor."""
    return {"lock": None}


MECHANISM = Mechanism(
    compose=compose,
    options=LockExpiry,
    limits=Crashes,
    service=True,
    actions=(
        Action(ACTOR_CRASHES, "dies between two steps of an operation", "{actor} crashes"),
        Action(LOCK_EXPIRES, "the lock of a dead holder expires", "the lock of the dead {actor} expires"),
    ),
)  # fmt: skip
