"""Heartbeats: who writes says so again and again, until a stall or its death; a heartbeat that was missed stays missed.

RFC-22, "Inline rollback": a failed writer is one that has not beaten for as long as all have agreed on. A writer that
stalls for longer (a long collection of garbage, a machine that sleeps) does not know it, and may wake at any step; so
it asks before it publishes whether it was taken for dead, and takes its write back if it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conditions import at, lock_is_free
from ..step import Action, Guard, Row
from ..timeline.decisions import caught_up
from ..timeline.looking import about_to_publish, looks_under_lock, not_looked
from ..timeline.publication import Check, given_back
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


def rows(setting: Setting) -> Iterator[Row]:
    for me in beating(setting):
        yield _expiring(me, setting.world.stalls)
    for me in setting.of(WRITER):
        if asked := still_stands(setting, me):
            yield from _asking(me, setting, asked)


def _expiring(me: str, most: int) -> Row:
    pending = Guard(f"{me} must have a pending instant", lambda own: own.requested > 0)
    beats = Guard(f"the heartbeat of {me} must not have expired", lambda own: not own.expired)
    silent = Guard("it is silent, or a stall must be left", lambda own, stalls: gone(own) or stalls < most, budget=True)
    return Row("heartbeat_expires", me, (me, "stalls"), (me, "stalls"), (pending, beats),
               lambda own, stalls: (own._replace(expired=True), stalls + (not gone(own))), (silent,))  # fmt: skip


def gone(own: Writer) -> bool:
    """Whether nobody is there any more who could beat."""
    return own.dead or own.step == LEFT


def _asking(me: str, setting: Setting, alive: Check) -> Iterator[Row]:
    protocol = setting.protocol_of(me)
    asked_at = alive.asked_at(about_to_publish(protocol), protocol)
    unsure = (not_looked(me),) if looks_under_lock(protocol) else ()
    if not alive.under_lock:
        yield Row("writer_looks_at_heartbeat", me, (me, *alive.reads), (me,), (at(me, asked_at),),
                  lambda own, *_: (own._replace(step=UNAWARE),), (alive.guard(1),))  # fmt: skip
    yield caught_up(Row("writer_is_refused", me, (me, "lock", *alive.reads), (me, "lock"),
                        (at(me, asked_at), *unsure),
                        lambda own, lock, *_: (own._replace(step=REFUSED), given_back(me, lock)),
                        (alive.guard(2, fails=True),)), setting)  # fmt: skip
    yield Row("writer_gives_up", me, (me, "lock"), (me,), (at(me, REFUSED),),
              lambda own, lock: (Writer(number=own.number),), (lock_is_free(),))  # fmt: skip
