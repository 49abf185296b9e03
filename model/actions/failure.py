"""Crashes between any two steps, and the lock of the dead, which expires.

An actor that crashed stays dead; what it put stays. Its instant is on the timeline for ever (rollback is another
mechanism), its plan can be taken up by another compactor. `world.lock_losses` (fault set F1): the lock of a living
holder is lost, because its lease ran out while it stood still, or because the lock service forgot it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..step import Action, Guard, Row
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


def rows(setting: Setting) -> Iterator[Row]:
    yield from _losses(setting)
    most = setting.world.crashes
    if not most:
        return
    left = Guard("a crash must be left", lambda own, crashes: crashes < most, budget=True)
    for me in (name for names in setting.actors.values() for name in names):
        yield Row("actor_crashes", me, (me, "crashes"), (me, "crashes"),
                  (Guard(f"{me} must be alive and in the midst of an operation", lambda own: own.busy),),
                  lambda own, crashes: (own._replace(step="dead", dead=True), crashes + 1), (left,))  # fmt: skip
        if setting.protocol.lock_expiry == "never":
            continue
        yield Row("lock_expires", me, (me, "lock"), ("lock",), (Guard(f"{me} must be dead", lambda own: own.dead),),
                  lambda own, lock: (None,),
                  (Guard(f"{me} must hold the lock", lambda own, lock, me=me: lock == me),))  # fmt: skip


def _losses(setting: Setting) -> Iterator[Row]:
    most = setting.world.lock_losses
    left = Guard("a lock must be left to be lost", lambda own, lock, losses: losses < most, budget=True)
    for me in (name for names in setting.actors.values() for name in names if most):
        yield Row("lock_is_lost", me, (me, "lock", "losses"), ("lock", "losses"),
                  (Guard(f"{me} must be alive", lambda own: not own.dead),),
                  lambda own, lock, losses: (None, losses + 1),
                  (Guard(f"{me} must hold the lock", lambda own, lock, losses, me=me: lock == me), left))  # fmt: skip
