"""Where locks can be lost, an actor takes a time in three steps: it reads its clock, waits, then uses the time.

TrueTime waits out the bound on the skew under the lock. A lock that is lost during the wait lets another actor read the
same time. In worlds without lost locks nobody can act between the reading and the use, so that they stay one step.

Under the decision log an actor claims its time after the wait (`claims = every_time`): a put-if-absent of an object
that the time names. The loser reads its clock again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..actions import Setting
from ..conditions import at
from ..protocol import Protocol
from ..step import Action, Guard, Row
from ..world import World
from .clock import clock_of

READS = {
    "cleaner": "clean", "compactor": "plan", "loader": "timed", "log_compactor": "plan", "replacer": "requested",
    "restorer": "restore", "rollbacker": "rollback", "writer": "timed",
}  # fmt: skip
"""The kinds that wait, and the field of each that holds a requested time; a completion time is in `completed`."""

WAITING, TAKEN = "waiting for all clocks", "refused its time"
TIMED = "given a time for its request"
CLAIMS = "claims"


def waits(world: World, protocol: Protocol) -> bool:
    """Whether reading the clock and waiting are steps of their own.

    A rollback names a write by its requested time. Without claims two instants of one time cannot be told apart there,
    so that taking a time stays one step.
    """
    return world.lock_losses > 0 and (claims_times(world, protocol) or not world.actors.get("rollbacker"))


def claims_times(world: World, protocol: Protocol) -> bool:
    """Whether a time must be claimed; where no lock is lost every claim succeeds, so that none is modelled."""
    return world.lock_losses > 0 and protocol.decision == "log" and protocol.claims == "every_time"


def reading(setting: Setting, row: Row) -> Row:
    """A row that takes a time, without the wait: the clock stays, and the actor goes on once all clocks have passed."""
    if not waits(setting.world, setting.protocol) or not any(row.actor in setting.of(kind) for kind in READS):
        return row
    place = row.writes.index("clock")

    def reads(*values: Any, **args: Any) -> tuple[Any, ...]:
        own, *others = row.effect(*values, **args)
        until = others.pop(place - 1)
        return own._replace(step=WAITING, then=own.step, until=until), *others

    return row._replace(writes=tuple(name for name in row.writes if name != "clock"), effect=reads)


def requesting_rows(kind: str, setting: Setting, row: Row) -> Iterator[Row]:
    """The row by which an actor requests an instant; or its two halves, between which it waits."""
    if not waits(setting.world, setting.protocol):
        yield row
        return
    me = row.actor

    def takes(*values: Any, **args: Any) -> tuple[Any, ...]:
        own, later, *others = row.effect(*values, **args)
        return own._replace(step=TIMED, timed=own.requested, requested=0), me, later, *others

    def puts(own: Any, lock: str | None, *_: Any) -> tuple[Any, ...]:
        return own._replace(step="requested", requested=own.timed, timed=0), None if lock == me else lock

    def fails(own: Any, lock: str | None, *_: Any) -> tuple[Any, ...]:
        return type(own)(number=own.number) if kind == "writer" else type(own)("refused"), None if lock == me else lock

    def is_there(own: Any, lock: str | None, published: Any, *others: Any) -> bool:
        there = (entry for entry in published if entry.action == "deltacommit")
        return any(each.requested == own.timed for each in (*there, *others))

    first = row._replace(action=f"{kind}_takes_time", writes=(me, "lock", *row.writes[1:]), effect=takes)
    yield reading(setting, first)
    put = Row(f"{kind}_puts_request", me, (me, "lock"), (me, "lock"), (at(me, TIMED),), puts)
    if claims_times(setting.world, setting.protocol):
        yield put
        return
    others = (each for some in ("writer", "loader") for each in setting.of(some) if each != me)
    reads = (*put.reads, "published", *others)
    free = Guard("no other request may carry its time", lambda *values: not is_there(*values))
    there = Guard("another request must carry its time", is_there)
    yield put._replace(reads=reads, guards=(free,))
    yield put._replace(action=f"{kind}_finds_request", reads=reads, guards=(there,), effect=fails)


def waiting_actions(kind: str) -> tuple[Action, ...]:
    """What an actor of a kind does between the reading of its clock and the use of the time."""
    return (
        Action(f"{kind}_waits", "waits until every clock has passed the time that it read, and claims that time",
               "{actor} waits for all clocks"),
        Action(f"{kind}_reads_clock_again", "reads its clock again, because another has claimed the time",
               "{actor} reads its clock again"),
    )  # fmt: skip


def waiting_rows(kind: str, me: str, setting: Setting) -> Iterator[Row]:
    """The rows between the reading of the clock and the use of the time, whatever it is for."""
    clocks = clock_of(setting.world, setting.protocol)
    claimed = (CLAIMS,) if claims_times(setting.world, setting.protocol) else ()

    def field(own: Any) -> str:
        return "completed" if own.completed else READS[kind]

    def waited(own: Any, clock: int, *claims: frozenset[int]) -> tuple[Any, ...]:
        time, later = getattr(own, field(own)), max(clock, own.until)
        if any(time in each for each in claims):
            return own._replace(step=TAKEN, until=0), later, *claims
        return own._replace(step=own.then, then="", until=0), later, *(each | {time} for each in claims)

    def reads_again(own: Any, clock: int, ahead: int = 0) -> tuple[Any, ...]:
        time, later = clocks.take(clock, ahead, after=getattr(own, field(own)))
        return (own._replace(step=WAITING, until=later, **{field(own): time}),)

    touched = (me, "clock", *claimed)
    yield Row(f"{kind}_waits", me, touched, touched, (at(me, WAITING),), waited)
    if claimed:
        yield Row(f"{kind}_reads_clock_again", me, (me, "clock"), (me,), (at(me, TAKEN),), reads_again,
                  choices=lambda *_: clocks.readings())  # fmt: skip
