"""Where locks can be lost, an actor takes a time in three steps: it reads its clock, waits, then uses the time.

TrueTime waits out the bound on the skew under the lock. A lock that is lost during the wait lets another actor read the
same time. In worlds without lost locks nobody can act between the reading and the use, so that they stay one step.

Under the decision log an actor claims its time after the wait (`claims = every_time`): a put-if-absent of an object
that the time names. The loser reads its clock again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..actions import Setting
from ..kernel.lock import released
from ..machine.transition import Action, Changes, Choice, Guard, Transition, given, go_to, transition
from ..protocol import Protocol
from ..world import World
from .clock import clock_of, clock_readings

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


def reading(setting: Setting, each: Transition) -> Transition:
    """A transition that takes a time, without the wait: the clock stays, and the actor goes on once all clocks have
    passed."""
    if not waits(setting.world, setting.protocol) or not any(each.actor in setting.of(kind) for kind in READS):
        return each
    then = each.extend(go_to(each.to)) if each.to else each
    return replace(then, to=WAITING).extend(note_wait).compute_only("clock")


def note_wait(own: Any, clock: int) -> Changes:
    """Remember until when to wait, and what comes after it."""
    return {"own": own._replace(then=own.step, until=clock)}


def requesting(kind: str, setting: Setting, each: Transition) -> Iterator[Transition]:
    """The transition by which an actor requests an instant; or its two halves, between which it waits."""
    if not waits(setting.world, setting.protocol):
        yield each
        return
    first = replace(each, action=f"{kind}_takes_time").extend(hold_request, "own", "lock")
    yield reading(setting, replace(first, to=TIMED))
    put = transition(f"{kind}_puts_request", each.actor, at=TIMED, to="requested", effect=put_request,
                     changes=("own", "lock"))  # fmt: skip
    if claims_times(setting.world, setting.protocol):
        yield put
        return
    there = Guard("another request must carry its time", is_request_there)
    yield put.require(Guard("no other request may carry its time", is_request_free))
    finds = transition(f"{kind}_finds_request", each.actor, at=TIMED, guards=(there,), changes=("own", "lock"),
                       effect=fail_write if kind == "writer" else fail_load)  # fmt: skip
    yield finds


def hold_request(own: Any, me: str) -> Changes:
    """Keep the lock, and the requested time for the put that follows."""
    return {"own": own._replace(timed=own.requested, requested=0), "lock": me}


def put_request(own: Any, me: str, lock: str | None) -> Changes:
    """Put the requested instant and release the lock."""
    return {"own": own._replace(requested=own.timed, timed=0), "lock": released(lock, me)}


def is_request_there(
    own: Any, me: str, published: tuple[Any, ...], every_writer: Mapping[str, Any], every_loader: Mapping[str, Any]
) -> bool:
    others = (each for name, each in (*every_writer.items(), *every_loader.items()) if name != me)
    there = (entry for entry in published if entry.action == "deltacommit")
    return any(each.requested == own.timed for each in (*there, *others))


def is_request_free(
    own: Any, me: str, published: tuple[Any, ...], every_writer: Mapping[str, Any], every_loader: Mapping[str, Any]
) -> bool:
    return not is_request_there(own, me, published, every_writer, every_loader)


def fail_write(own: Any, me: str, lock: str | None) -> Changes:
    """The write fails: another request has its time."""
    return {"own": type(own)(number=own.number), "lock": released(lock, me)}


def fail_load(own: Any, me: str, lock: str | None) -> Changes:
    """The bulk insert fails: another request has its time."""
    return {"own": type(own)("refused"), "lock": released(lock, me)}


def waiting_actions(kind: str) -> tuple[Action, ...]:
    """What an actor of a kind does between the reading of its clock and the use of the time."""
    return (
        Action(f"{kind}_waits", "waits until every clock has passed the time that it read, and claims that time",
               "{actor} waits for all clocks"),
        Action(f"{kind}_reads_clock_again", "reads its clock again, because another has claimed the time",
               "{actor} reads its clock again"),
    )  # fmt: skip


def waiting_transitions(kind: str, me: str, setting: Setting) -> Iterator[Transition]:
    """The transitions between the reading of the clock and the use of the time, whatever it is for."""
    field = READS[kind]
    passed = pass_clocks
    waited = transition(f"{kind}_waits", me, at=WAITING, effect=passed, changes=("own", "clock"))
    if not claims_times(setting.world, setting.protocol):
        yield waited
        return
    claims = Choice(given(is_claimed, field=field), (refuse_time,), (given(claim_time, field=field), passed))
    yield replace(waited, effects=(claims,), changes=("own", "clock", CLAIMS))
    yield transition(f"{kind}_reads_clock_again", me, at=TAKEN, to=WAITING, arguments=clock_readings,
                     effect=given(read_clock_again, field=field))  # fmt: skip


def time_field(own: Any, field: str) -> str:
    """The field with the time for which the actor waits."""
    return "completed" if own.completed else field


def is_claimed(own: Any, claims: frozenset[int], field: str) -> bool:
    return getattr(own, time_field(own, field)) in claims


def refuse_time(own: Any, clock: int) -> Changes:
    """Another actor has claimed the time."""
    return {"own": own._replace(step=TAKEN, until=0), "clock": max(clock, own.until)}


def claim_time(own: Any, claims: frozenset[int], field: str) -> Changes:
    """Put the object that the time names, if absent."""
    return {"claims": claims | {getattr(own, time_field(own, field))}}


def pass_clocks(own: Any, clock: int) -> Changes:
    """Every clock has passed the time."""
    return {"own": own._replace(step=own.then, then="", until=0), "clock": max(clock, own.until)}


def read_clock_again(own: Any, clock: int, setting: Setting, field: str, *, ahead: int = 0) -> Changes:
    """Take a later time than the one that another actor has claimed."""
    name = time_field(own, field)
    time, later = clock_of(setting.world, setting.protocol).take(clock, ahead, after=getattr(own, name))
    return {"own": own._replace(until=later, **{name: time})}
