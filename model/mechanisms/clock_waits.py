"""Splits the choice of a time into several steps, for worlds (bounded configurations) in which an actor can lose the
lock while waiting. With the option `claims`, an actor claims a time before using it, so that no two actors use the same
time.

Under the lock, an actor waits until the clock-skew bound has passed (see `clocks`). If the lock is lost during the
wait, another actor may read the same time. If locks can be lost, obtaining a time has three steps: read the clock,
wait, use the time. If locks cannot be lost, no other actor can act during the wait, so obtaining a time is one step.

To claim a time, an actor creates an object named after the time. If an object with that name already exists, another
actor has claimed the same time, so the actor chooses a later time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ..kernel.clock import TakeTime
from ..kernel.compactor import COMPACTOR
from ..kernel.lock import released
from ..kernel.publication import TAKES_COMPLETION_TIME
from ..kernel.writer import WRITER
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, ProtocolOptions, option
from ..machine.plans import Planner
from ..machine.transition import Action, Branch, Changes, Guard, Transition, go_to, preset, transition
from ..world import World
from .bulk_insert.mechanism import BULK_INSERTER
from .cleaning.mechanism import CLEANER
from .clocks import ListedInstants, all_readings, clock_of
from .decision_log import DecisionLog
from .insert_overwrite import OVERWRITER
from .log_compaction.mechanism import LOG_COMPACTOR
from .lost_locks import TAKES_TIME, LostLocks
from .requests.mechanism import unlocked_writers
from .restores.mechanism import RESTORER
from .rollback.rollbacker import ROLLBACKER

WAITING, REFUSED_TIME = "waiting for all clocks", "its time is claimed"
HAS_REQUESTED_TIME = "has a time for its request"
REQUESTING = (BULK_INSERTER.name, WRITER.name)
"""The kinds that put a request instead of a plan. This mechanism divides their request into two steps; the mechanism
`lost_locks` divides the steps that put a plan.
"""


class Claims(Options):
    """The option that decides whether actors claim every time that they use, so that times are unique."""

    claims: Literal["every_time", "none"] = option(
        "every_time",
        "with a decision log and locks that can be lost. every_time: an actor claims each time of an instant by a "
        "put if absent; none: it uses the clock reading, so that a barrier and a request may be equal",
    )


class Wait(NamedTuple):
    """The state of an actor that waits until other actors' clocks have passed a time. `until` is the time that all
    clocks must have passed. `next_step` is the step that follows the wait.
    """

    until: int = 0
    next_step: str = ""


class Deferred(NamedTuple):
    """A requested time that an actor has chosen but not yet written to the timeline; 0 if there is none."""

    requested: int = 0


NOTHING_DEFERRED = Deferred()


def claims_times(world: World, protocol: ProtocolOptions) -> bool:
    """True if actors claim times, that is, put an object named after each time. If locks cannot be lost, every claim
    succeeds, so claims are not modelled.
    """
    logged = protocol[DecisionLog].decision == "log" and protocol[Claims].claims == "every_time"
    return world[LostLocks].lock_losses > 0 and logged


def waits(world: World, protocol: ProtocolOptions) -> bool:
    """True if reading the clock and waiting are modelled as separate steps.

    A rollback identifies a write by its requested time. If actors do not claim their times, two instants can have the
    same requested time, and a rollback would confuse them. Therefore, in worlds with rollback actors, reading the clock
    and waiting are separate steps only if actors claim their times.
    """
    return world[LostLocks].lock_losses > 0 and (
        claims_times(world, protocol) or not world.actors.get(ROLLBACKER.name)
    )


def compose(composition: Composition) -> None:
    """Split each transition that obtains a time into three steps: reading the clock, waiting, and using the time."""
    world, protocol = composition.world, composition.protocol
    if not waits(world, protocol):
        return
    claimed = claims_times(world, protocol)
    if claimed:
        composition.add_component("claims", frozenset())
    fields = {each.actor: (each.kind, each.requested) for each in composition.facts(Planner).values()}
    fields |= {me: (kind, "requested") for kind in REQUESTING for me in composition.actors_of(kind)}
    unlocked = unlocked_writers(composition)
    for kind in {kind for kind, _ in fields.values()}:
        composition.add_field(kind, "wait", Wait())
    for kind in REQUESTING:
        composition.add_field(kind, "deferred", Deferred())
        for me in composition.actors_of(kind):
            # A request without the lock is divided by its own mechanism, and does not wait for other clocks.
            if me not in unlocked:
                _divide_request(composition, kind, me, claimed)
    composition.find(TAKES_COMPLETION_TIME, TAKES_TIME, actors=fields).replace(_up_to_wait)
    for me, (kind, requested) in fields.items():
        _wait(composition, kind, me, requested, claimed)


def _up_to_wait(takes: Transition) -> Transition:
    """Return the first part of a transition that takes a time: the actor reads its clock and begins to wait.

    The effects of `takes` set the component `clock`, the slowest clock of all actors, to its value after the wait. The
    first part only notes this value: as a scratch component `clock` is discarded at the end of the step, and
    `pass_clocks` sets it at the end of the wait.
    """
    # `note_wait` reads the step that follows the wait, so the effects must set that step before WAITING replaces it.
    goes_on = takes.extend(go_to(takes.to)) if takes.to else takes
    return replace(goes_on, to=WAITING).extend(note_wait).make_scratch("clock")


def note_wait(own: Any, clock: int) -> Changes:
    """Record the time that all clocks must pass, and the step that follows the wait."""
    return {"own_wait": Wait(clock, own.step)}


def _divide_request(composition: Composition, kind: str, me: str, claimed: bool) -> None:
    def takes_time(requests: Transition) -> Transition:
        half = replace(requests, action=f"{kind}_takes_time", to=HAS_REQUESTED_TIME)
        return _up_to_wait(half.extend(defer_request, "own", "lock"))

    def puts_request(requests: Transition) -> Transition:
        return transition(f"{kind}_puts_request", me, at=HAS_REQUESTED_TIME, to="requested", effect=put_request,
                          changes=("own", "lock"))  # fmt: skip

    composition.select(f"{kind}_requests_instant", actors=[me]).split(takes_time, puts_request)
    if not claimed:
        puts = composition.select(f"{kind}_puts_request", actors=[me])
        puts.require(Guard("no other request may carry its time", is_request_there, negated=True))
        there = Guard("another request must carry its time", is_request_there)
        fails = fail_write if kind == WRITER.name else fail_load
        puts.exit(lambda _: transition(f"{kind}_finds_request", me, guards=(there,), changes=("own", "lock"),
                                           effect=fails))  # fmt: skip


def defer_request(own: Any, me: str) -> Changes:
    """Take the lock, and move the requested time to a field of its own until the requested instant is put. An actor
    whose field `requested` is set has an instant on the timeline.
    """
    return {"own": own._replace(requested=0), "own_deferred": Deferred(own.requested), "lock": me}


def put_request(own: Any, own_deferred: Deferred, me: str, lock: str | None) -> Changes:
    """Put the requested instant and release the lock."""
    own = own._replace(requested=own_deferred.requested)
    return {"own": own, "own_deferred": Deferred(), "lock": released(lock, me)}


def is_request_there(own_deferred: Deferred, listed_instants: ListedInstants) -> bool:
    """True if another deltacommit already has the requested time chosen by this actor."""
    there = (entry for entry in listed_instants.published if entry.action == "deltacommit")
    return any(each.requested == own_deferred.requested for each in (*there, *listed_instants.others))


def fail_write(own: Any, me: str, lock: str | None) -> Changes:
    """Abandon the write, because another deltacommit has the same requested time. The abandoned write counts
    towards the writer's limit.
    """
    return {"own": type(own)(number=own.number), "lock": released(lock, me)}


def fail_load(own: Any, me: str, lock: str | None) -> Changes:
    """Abandon the bulk insert, because another deltacommit has the same requested time."""
    return {"own": type(own)("refused"), "lock": released(lock, me)}


def _wait(composition: Composition, kind: str, me: str, requested: str, claimed: bool) -> None:
    waited = transition(f"{kind}_waits", me, at=WAITING, effect=pass_clocks, changes=("own", "clock"))
    if not claimed:
        composition.add(waited)
        return
    claim = preset(claim_time, requested=requested)
    claims = Branch(preset(is_claimed, requested=requested), (refuse_time,), (claim, pass_clocks))
    readings = preset(all_readings, own_clock=clock_of(composition.world, composition.protocol))
    composition.add(
        replace(waited, effects=(claims,), changes=("own", "clock", "claims")),
        transition(f"{kind}_reads_clock_again", me, at=REFUSED_TIME, to=WAITING, arguments=readings,
                   effect=preset(read_clock_again, requested=requested)),
    )  # fmt: skip


def _time_of(own: Any, own_deferred: Deferred, requested: str) -> int:
    """Return the time that the actor has chosen last: the completion time if there is one. The requested time of an
    actor of a kind in `REQUESTING` is deferred; `requested` names the field in which another actor has its own.
    """
    return int(own.completed or own_deferred.requested or getattr(own, requested))


def pass_clocks(own: Any, own_wait: Wait, clock: int) -> Changes:
    """End the wait: every clock has now passed the time that the actor read."""
    return {"own": own._replace(step=own_wait.next_step), "own_wait": Wait(), "clock": max(clock, own_wait.until)}


def is_claimed(own: Any, claims: frozenset[int], requested: str, own_deferred: Deferred = NOTHING_DEFERRED) -> bool:
    """True if another actor has already claimed the time chosen by this actor."""
    return _time_of(own, own_deferred, requested) in claims


def claim_time(own: Any, claims: frozenset[int], requested: str, own_deferred: Deferred = NOTHING_DEFERRED) -> Changes:
    """Claim the time that this actor has taken, by putting an object named after that time."""
    return {"claims": claims | {_time_of(own, own_deferred, requested)}}


def refuse_time(own: Any, own_wait: Wait, clock: int) -> Changes:
    """Discard the time that this actor has chosen, because another actor has already claimed it."""
    # The wait has passed although the time is discarded, so the clocks have moved on.
    later = max(clock, own_wait.until)
    return {"own": own._replace(step=REFUSED_TIME), "own_wait": own_wait._replace(until=0), "clock": later}


def read_clock_again(
    own: Any, own_wait: Wait, clock: int, completion_time: TakeTime, requested: str,
    own_deferred: Deferred = NOTHING_DEFERRED,
) -> Changes:  # fmt: skip
    """After another actor has claimed the time, read the clock again and choose a later time."""
    time, later = completion_time(clock, after=_time_of(own, own_deferred, requested))
    wait: dict[str, object] = {"own_wait": own_wait._replace(until=later)}
    if own_deferred.requested and not own.completed:
        return {"own_deferred": Deferred(time), **wait}
    return {"own": own._replace(**{"completed" if own.completed else requested: time}), **wait}


def _actions() -> Iterator[Action]:
    waiting = (BULK_INSERTER, CLEANER, COMPACTOR, LOG_COMPACTOR, OVERWRITER, RESTORER, ROLLBACKER, WRITER)
    for kind in (each.name for each in waiting):
        yield Action(f"{kind}_waits", "waits until every clock has passed the time that it read, and claims that time",
                     "{actor} waits for all clocks")  # fmt: skip
        yield Action(f"{kind}_reads_clock_again", "reads its clock again, because another actor has claimed the time",
                     "{actor} reads its clock again")  # fmt: skip
    for kind in REQUESTING:
        yield Action(f"{kind}_takes_time", "under a lock that can be lost: reads its clock for a requested time",
                     "{actor} reads its clock for a request")  # fmt: skip
        yield Action(f"{kind}_puts_request", "puts the requested instant, releases the lock",
                     "{actor} puts its request")  # fmt: skip
        yield Action(f"{kind}_finds_request", "finds another request of the same time, and gives up",
                     "{actor} finds another request of its time")  # fmt: skip


MECHANISM = Mechanism(
    compose=compose,
    options=Claims,
    after=("archiving", "clocks", "decision_log", "fencing", "lost_locks", "metadata_table", "*"),
    actions=tuple(_actions()),
)
