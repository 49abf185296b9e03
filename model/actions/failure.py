"""Crashes between any two steps, and the lock of the dead, which expires.

An actor that crashed stays dead; what it put stays. Its instant is on the timeline for ever (rollback is another
mechanism), its plan can be taken up by another compactor. `world.lock_losses` (fault set F1): the lock of a living
holder is lost, because its lease ran out while it stood still, or because the lock service forgot it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kernel.lock import HOLDS_LOCK
from ..machine.transition import Action, ActorState, Changes, Guard, Transition, transition
from ..world import World
from . import Setting

SERVICE = True
ACTIONS = (
    Action("actor_crashes", "dies between two steps of an operation", "{actor} crashes"),
    Action(
        "lock_is_lost",
        "the lock of a living holder is free again, and nothing tells the holder",
        "the lock of {actor} is lost, and {actor} does not know",
    ),
    Action("lock_expires", "the lock of a dead holder is free again", "the lock of {actor}, who died, expires"),
)


def components(setting: Setting) -> dict[str, Any]:
    found: dict[str, Any] = {"crashes": 0}
    if setting.world.lock_losses:
        found["losses"] = 0
    if setting.fenced:
        found["fence"] = ()
    return found


def transitions(setting: Setting) -> Iterator[Transition]:
    everybody = [name for names in setting.actors.values() for name in names]
    for me in everybody if setting.world.lock_losses else ():
        yield transition("lock_is_lost", me, guards=(IS_ALIVE, HOLDS_LOCK, LOSS_LEFT), effect=lose_lock,
                         changes=("lock", "losses"))  # fmt: skip
    for me in everybody if setting.world.crashes else ():
        yield transition("actor_crashes", me, guards=(IS_BUSY, CRASH_LEFT), effect=crash, changes=("own", "crashes"))
        if setting.protocol.lock_expiry != "never":
            yield transition("lock_expires", me, guards=(IS_DEAD, HOLDS_LOCK), effect=expire_lock, changes=("lock",))


def is_alive(own: ActorState) -> bool:
    return not own.dead


def is_dead(own: ActorState) -> bool:
    return own.dead


def is_busy(own: Any) -> bool:
    return bool(own.busy)


def crash_is_left(crashes: int, world: World) -> bool:
    return crashes < world.crashes


def loss_is_left(losses: int, world: World) -> bool:
    return losses < world.lock_losses


IS_ALIVE = Guard("{me} must be alive", is_alive)
IS_DEAD = Guard("{me} must be dead", is_dead)
IS_BUSY = Guard("{me} must be alive and in the midst of an operation", is_busy)
CRASH_LEFT = Guard("a crash must be left", crash_is_left, limit=True)
LOSS_LEFT = Guard("a lock must be left to be lost", loss_is_left, limit=True)


def crash(own: Any, crashes: int) -> Changes:
    """The actor dies; what it has put stays."""
    return {"own": own._replace(step="dead", dead=True), "crashes": crashes + 1}


def expire_lock() -> Changes:
    """The lock of a dead holder is free again."""
    return {"lock": None}


def lose_lock(losses: int) -> Changes:
    """The lock of a living holder is free again, and the holder does not notice."""
    return {"lock": None, "losses": losses + 1}
