"""Writers may request their instants without the table's lock.

A writer then reads its own clock, does not wait for other clocks, and puts the requested instant if absent. If another
writer has put an instant of the same time, the writer takes a later time. The names of two actions differ, so that a
put if absent does not keep a write and a plan from having the same requested time. Unlocked requests therefore have
even times, and all times that are taken under the lock are odd.

Two kinds of actors act on the absence of a pending write, and hold the lock while no request can come in under the
option `under_lock`. A restorer undoes the pending writes that it lists: a write that is requested at an earlier time
than the restore, but put later, is refused when it publishes. An archiver archives nothing past a pending write: see
`archiving.late`. The module `floor` defines how an archiver and a writer without the lock learn of each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Literal

from ...kernel.clock import TakeTime
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.table import Instant
from ...kernel.timeline import Published
from ...kernel.writer import WRITER, WRITER_REQUESTS_INSTANT, Writer, give_up
from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.options import Options, ProtocolOptions, option
from ...machine.transition import Action, Changes, Guard, Transition, preset, transition
from ...protocol import Protocol
from ...variants.slicing import Slicing
from ..clocks import Clock, all_readings, clock_of
from ..copy_on_write import is_copy_on_write
from ..decision_log import TOGETHER, DecisionLog
from ..exactly_once import WRITER_REFUSES_BATCH, WRITER_SKIPS_BATCH
from ..occ.conflicts import Occ
from ..refusal import refuse
from ..restores.mechanism import RESTORER
from ..restores.rules import Restore
from . import floor
from .floor import HAS_TIME, Unlocked, read_clock

CLAIMED = "has claimed its time"
PUTS_REQUEST = "writer_puts_request_if_absent"


class Requests(Options):
    """The options of requests: whether a writer needs the lock, and how its requested time stays unique without it."""

    requests: Literal["under_lock", "put_if_absent"] = option(
        "under_lock",
        "under_lock: a writer takes its requested time, and puts the requested instant, under the lock. put_if_absent: "
        "it reads its own clock, and claims the time by a put if absent, without the lock",
    )


def requests_without_lock(protocol: ProtocolOptions) -> bool:
    """True if writers request their instants without the lock."""
    return protocol[Requests].requests == "put_if_absent"


def unlocked_writers(composition: Composition) -> tuple[str, ...]:
    """Return the writers that request without the lock: those that only append logs.

    An optimistic writer keeps the lock. Without it, a write may complete at a time before the writer's requested time
    and be published after its listing, so that the writer aborts because of a write that completed before it began. A
    copy-on-write writer keeps it because its requested time is a barrier.
    """
    if not requests_without_lock(composition.protocol) or is_copy_on_write(composition.world):
        return ()
    return tuple(me for me in composition.actors_of(WRITER) if composition.protocol_of(me)[Occ].concurrency == "nbcc")


def compose(composition: Composition) -> None:
    """Split the request of each writer: it reads its clock, and then puts the requested instant if absent."""
    if not requests_without_lock(composition.protocol):
        return
    writers = unlocked_writers(composition)
    others = (me for actors in composition.actors.values() for me in actors if me not in writers)
    composition.map_view("completion_time", odd_completions)
    composition.map_view("request_time", odd_times, others)
    # Before `even_times`, which wraps it: the parity must be that of the time that is taken in the end.
    composition.map_view("request_time", later_than_listed)
    composition.map_view("request_time", even_times, writers)
    own_clock = clock_of(composition.world, composition.protocol)
    composition.add_field(WRITER, "unlocked", Unlocked())
    composition.add_component("request_claims", frozenset())
    for me in writers:
        composition.select(WRITER_REQUESTS_INSTANT, actors=[me]).split(reads_clock, puts_request)
        composition.select(PUTS_REQUEST, actors=[me]).insert_before(CLAIMED, claims_time)
        composition.find(WRITER_SKIPS_BATCH, WRITER_REFUSES_BATCH, actors=[me]).replace(without_lock)
        composition.add(transition("writer_finds_time_claimed", me, at=HAS_TIME, guards=(TIME_IS_CLAIMED,),
                                   effect=preset(take_next_time, own_clock=own_clock),
                                   arguments=preset(all_readings, own_clock=own_clock)))  # fmt: skip
        if composition.actors_of(RESTORER):
            not_older = Guard("its write may not be older than a restore", is_not_older)
            refuse(composition, WRITER.name, me, not_older, give_up)
    floor.compose(composition, PUTS_REQUEST, own_clock)


def claims_time(me: str) -> Transition:
    return transition("writer_claims_time", me, guards=(~TIME_IS_CLAIMED,), effect=claim,
                      changes=("own", "request_claims"))  # fmt: skip


def without_lock(each: Transition) -> Transition:
    return replace(each, guards=tuple(guard for guard in each.guards if guard != LOCK_IS_FREE))


def reads_clock(requests: Transition) -> Transition:
    """Return the first half of a request: the writer lists the timeline and reads its clock. No other clock advances,
    because the writer does not wait.
    """
    half = replace(without_lock(requests), action="writer_reads_own_clock", to=HAS_TIME)
    # The writer reads the clock and does not move it: the others see no sign of the time until it is put.
    return half.extend(keep_time).make_scratch("clock")


def keep_time(own: Writer) -> Changes:
    # Until it is put, the time is in the state of the writer alone: views of pending writes must not show it.
    return {"own": own._replace(requested=0), "own_unlocked": Unlocked(own.requested)}


def puts_request(requests: Transition) -> Transition:
    """Return the second half of a request: the writer puts the requested instant if absent."""
    return transition(PUTS_REQUEST, requests.actor, at=HAS_TIME, to="requested", effect=put_request)


def is_claimed(own_unlocked: Unlocked, request_claims: frozenset[int]) -> bool:
    return own_unlocked.requested in request_claims


TIME_IS_CLAIMED = Guard("another write must have claimed the time that it has read", is_claimed)


def claim(own_unlocked: Unlocked, request_claims: frozenset[int]) -> Changes:
    return {"request_claims": request_claims | {own_unlocked.requested}}


def is_not_older(own: Writer, restores: tuple[Restore, ...]) -> bool:
    return all(own.requested > each.requested for each in restores)


def put_request(own: Writer, own_unlocked: Unlocked) -> Changes:
    return {"own": own._replace(requested=own_unlocked.requested), "own_unlocked": Unlocked()}


def take_next_time(own_unlocked: Unlocked, clock: int, own_clock: Clock, *, ahead: int = 0) -> Changes:
    """Read the clock again, because another writer has claimed the time."""
    return {"own_unlocked": read_clock(own_clock, clock, ahead, own_unlocked.requested)}


def odd_completions(completion_time: TakeTime) -> TakeTime:
    """Redefine completion times, which are taken under the lock: only odd ones."""
    return partial(_of_parity, completion_time, 1)


def odd_times(request_time: TakeTime) -> TakeTime:
    """Redefine the requested times of actors that hold the lock: only odd ones."""
    return partial(_of_parity, request_time, 1)


def even_times(request_time: TakeTime) -> TakeTime:
    """Redefine the times of unlocked requests: only even ones."""
    return partial(_of_parity, request_time, 0)


def later_than_listed(
    request_time: TakeTime, active_instants: Published, pending_instants: Iterable[Instant]
) -> TakeTime:
    """Redefine the times of unlocked requests: later than all times on the active timeline. No lock has made the other
    actors wait until this writer's clock has passed these times.
    """
    times = (time for each in (*active_instants, *pending_instants) for time in (each.requested, each.completed))
    return partial(_take_after, request_time, max((time for time in times if time is not None), default=0))


def _take_after(
    take: TakeTime, newest: int, clock: int, after: int = 0, action: str = "", **reading: int
) -> tuple[int, int]:
    return take(clock, max(newest, after), action, **reading)


def _of_parity(
    take: TakeTime, parity: int, clock: int, after: int = 0, action: str = "", **reading: int
) -> tuple[int, int]:
    """Take a time; if it has the other parity, take the next one."""
    time, later = take(clock, after, action, **reading)
    more = int(time % 2 != parity)
    # The clock moves with the time, or the next actor could take the one in between.
    return time + more, later + more


def agree(protocol: Protocol) -> None:
    """Raise ValueError if the slice of a log depends on its requested time, which may then lie before a barrier that is
    already planned; or if commits are announced, whose requests need no lock anyway.
    """
    slicing = protocol[Slicing].slicing
    if requests_without_lock(protocol) and protocol[DecisionLog].decision in TOGETHER:
        raise ValueError("protocol: requests = 'put_if_absent' is modelled for decision = 'lock' and 'log'")
    if requests_without_lock(protocol) and slicing != "completion":
        raise ValueError(f"protocol: requests = 'put_if_absent' needs slicing = 'completion', found {slicing!r}")


MECHANISM = Mechanism(
    compose=compose,
    options=Requests,
    agree=agree,
    after=("clock_waits", "endless", "*"),
    actions=(
        Action("writer_reads_own_clock", "without the lock: lists the timeline, reads its clock for a requested time",
               "{actor} reads its own clock for a request"),
        Action("writer_claims_time", "puts a claim of the time that it has read, if absent",
               "{actor} claims its requested time"),
        Action("writer_puts_request_if_absent", "puts the requested instant if absent",
               "{actor} puts its request without the lock"),
        Action("writer_finds_time_claimed", "finds that another write has claimed its time; reads its clock again",
               "{actor} finds its time claimed"),
        Action("writer_reads_floor", "reads the floor, up to which an archiver may have archived",
               "{actor} finds its request above the floor"),
        Action("writer_withdraws_request",
               "finds its request at or below the floor; under the lock, deletes it; reads its clock again",
               "{actor} withdraws its request"),
        Action("archiver_raises_floor", "takes the lock, puts the time of the newest instant that may be archived",
               "{actor} raises the floor", service=True),
        Action("archiver_archives_above_floor", "lists the timeline again, archives what may go, releases the lock",
               "{actor} archives {instants}", service=True),
        Action("archiver_finds_request", "lists the timeline again, and finds a request; releases the lock",
               "{actor} finds a request that is older than what it would archive", service=True),
    ),
)  # fmt: skip
