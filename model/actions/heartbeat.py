"""Heartbeats: who writes says so again and again, until a stall or its death; a heartbeat that was missed stays missed.

RFC-22, "Inline rollback": a failed writer is one that has not beaten for as long as all have agreed on. A writer that
stalls for longer (a long collection of garbage, a machine that sleeps) does not know it, and may wake at any step; so
it asks before it publishes whether it was taken for dead, and takes its write back if it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kernel.lock import LOCK_IS_FREE
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..timeline.decisions import caught_up
from ..timeline.looking import NOT_LOOKED, about_to_publish, looks_under_lock
from ..timeline.publication import Check, release_lock
from ..world import World
from . import Setting
from .writer import KIND as WRITER
from .writer import LEFT, UNAWARE, Writer, beating, still_stands

SERVICE = True
ACTIONS = (
    Action("heartbeat_expires", "a writer that is dead, or stalls, has not beaten for too long",
           "the heartbeat of {actor} expires"),
    Action("writer_looks_at_heartbeat", "looks whether it was taken for dead, without the lock",
           "{actor} looks at its heartbeat"),
    Action("writer_is_refused", "under the lock: finds that it was taken for dead; gives the lock back",
           "{actor} finds that it was taken for dead"),
    Action("writer_gives_up", "deletes its files, then, under the lock, its pending instant",
           "{actor} takes its files and its instant back"),
)  # fmt: skip

REFUSED = "refused"


def components(setting: Setting) -> dict[str, Any]:
    return {"stalls": 0} if setting.of("rollbacker") else {}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in beating(setting):
        yield transition("heartbeat_expires", me, guards=(IS_PENDING, IS_BEATING, STALL_LEFT), effect=expire,
                         changes=("own", "stalls"))  # fmt: skip
    for me in setting.of(WRITER):
        if asked := still_stands(setting, me):
            yield from _asking(me, setting, asked)


def is_pending(own: Writer) -> bool:
    return own.requested > 0


def is_beating(own: Writer) -> bool:
    return not own.expired


def gone(own: Writer) -> bool:
    """Whether the process that renewed the heartbeat has ended."""
    return own.dead or own.step == LEFT


def stall_is_left(own: Writer, stalls: int, world: World) -> bool:
    return gone(own) or stalls < world.stalls


IS_PENDING = Guard("{me} must have a pending instant", is_pending)
IS_BEATING = Guard("the heartbeat of {me} must not have expired", is_beating)
STALL_LEFT = Guard("it is silent, or a stall must be left", stall_is_left, limit=True)


def expire(own: Writer, stalls: int) -> Changes:
    """The heartbeat expires: the writer is dead, or stalls for longer than others wait."""
    return {"own": own._replace(expired=True), "stalls": stalls + (not gone(own))}


def _asking(me: str, setting: Setting, alive: Check) -> Iterator[Transition]:
    protocol = setting.protocol_of(me)
    asked_at = alive.asked_at(about_to_publish(protocol), protocol)
    unsure = (NOT_LOOKED,) if looks_under_lock(protocol) else ()
    if not alive.under_lock:
        yield transition("writer_looks_at_heartbeat", me, at=asked_at, to=UNAWARE, guards=(alive.guard,))
    refused = transition("writer_is_refused", me, at=asked_at, to=REFUSED, guards=(*unsure, ~alive.guard),
                         effect=release_lock, changes=("own", "lock"))  # fmt: skip
    yield caught_up(refused, setting)
    yield transition("writer_gives_up", me, at=REFUSED, guards=(LOCK_IS_FREE,), effect=give_up)


def give_up(own: Writer) -> Changes:
    """Delete the files, then, under the lock, the pending instant."""
    return {"own": Writer(number=own.number)}
