"""A writer renews its heartbeat while it writes. An expired heartbeat stays expired.

According to RFC-22, a write has failed if the writer's heartbeat has expired. A live writer may stall, for example
during garbage collection or on a suspended machine, and not notice that its heartbeat expires. A rolled-back write must
not be published. Before publishing, a writer therefore checks its heartbeat, and gives up if the heartbeat has expired.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kernel.publication import BEGINS
from ...kernel.writer import WRITER, Writer, give_up
from ...machine.composition import Composition
from ...machine.transition import DEAD, Action, Changes, Guard, Transition, preset, transition
from ...world import World
from ..clocks import Skew
from ..copy_on_write import is_copy_on_write
from ..decision_log import decides_together
from ..refusal import refuse
from ..restores.mechanism import RESTORER
from .rules import Failures, Rollback, Rollbacks

HEARTBEAT_EXPIRES = "heartbeat_expires"
WRITER_IS_REFUSED = "writer_is_refused"
WRITER_GIVES_UP = "writer_gives_up"

UNAWARE = "unaware of what comes"
"""The step of a writer that has checked its heartbeat, and does not hold the lock yet."""


class Heartbeat(NamedTuple):
    """The extra state of each writer in a model with heartbeats: whether the writer's heartbeat has expired."""

    expired: bool = False


def renewing(composition: Composition) -> tuple[str, ...]:
    """Return the writers that renew a heartbeat. Heartbeats are modelled only with rollback actors, log files and a
    single clock.
    """
    world = composition.world
    if not composition.actors_of("rollbacker") or is_copy_on_write(world) or world[Skew].skew:
        return ()
    return composition.actors_of(WRITER)


def compose(composition: Composition) -> None:
    """Add a heartbeat to every writer, and let writers check their heartbeat before publishing."""
    composition.add_component("stalls", 0)
    composition.add_field(WRITER, "heartbeat", Heartbeat())
    silent = {"left": tuple(step for step in composition.idle_steps[WRITER.name] if step not in WRITER.idle_steps)}
    stall = Guard("it is silent, or a stall must be left", preset(stall_is_left, **silent), limit=True)
    for me in renewing(composition):
        composition.add(transition(HEARTBEAT_EXPIRES, me, guards=(IS_PENDING, IS_RENEWED, stall),
                                   effect=preset(expire, **silent), changes=("own_heartbeat", "stalls")))  # fmt: skip
        # An entry that decides several announcements commits the write or rolls it back: no check is needed.
        check = "none" if decides_together(composition) else composition.protocol_of(me)[Rollbacks].commit_check
        # `restores.undone` adds its condition to the same check (`refuse`), and a restore may be planned after a check
        # without the lock. With a restorer, both conditions are therefore checked under the lock.
        if check == "before_lock" and not composition.actors_of(RESTORER):
            composition.select(BEGINS, actors=[me]).insert_before(UNAWARE, look)
            refuse(composition, WRITER.name, me, NOT_GIVEN_UP, give_up, "writer_looks_at_heartbeat")
        elif check != "none":
            refuse(composition, WRITER.name, me, NOT_GIVEN_UP, give_up)
        if check == "under_lock":  # a writer that was given up finds that before it finds its batch
            composition.find("writer_finds_batch", actors=[me]).require(NOT_GIVEN_UP)


def look(me: str) -> Transition:
    """Return the transition by which a writer checks its heartbeat before taking the lock."""
    return transition("writer_looks_at_heartbeat", me)


def is_pending(own: Writer) -> bool:
    return own.requested > 0


def is_renewed(own_heartbeat: Heartbeat) -> bool:
    return not own_heartbeat.expired


def is_silent(own: Writer, left: tuple[str, ...]) -> bool:
    """True if the writer no longer renews its heartbeat, because it has crashed or abandoned its pending write."""
    return own.step == DEAD or own.step in left


def stall_is_left(own: Writer, stalls: int, world: World, left: tuple[str, ...]) -> bool:
    return is_silent(own, left) or stalls < world[Failures].stalls


def is_not_given_up(own: Writer, own_heartbeat: Heartbeat, rollbacks: tuple[Rollback, ...]) -> bool:
    return not own_heartbeat.expired and all(each.target != own.requested for each in rollbacks)


IS_PENDING = Guard("{me} must have a pending instant", is_pending)
IS_RENEWED = Guard("the heartbeat of {me} must not have expired", is_renewed)
NOT_GIVEN_UP = Guard(
    "its heartbeat must not have expired, and no rollback of its write may be planned", is_not_given_up
)


def expire(own: Writer, own_heartbeat: Heartbeat, stalls: int, left: tuple[str, ...]) -> Changes:
    """Let the heartbeat expire, because the writer has crashed, abandoned its write, or stalled for longer than the
    timeout.
    """
    return {"own_heartbeat": own_heartbeat._replace(expired=True), "stalls": stalls + (not is_silent(own, left))}


ACTIONS = (
    Action(HEARTBEAT_EXPIRES, "a writer that is dead, or stalls, has not beaten for too long",
           "the heartbeat of {actor} expires"),
    Action("writer_looks_at_heartbeat", "checks without the lock whether its heartbeat has expired",
           "{actor} checks its heartbeat"),
    Action(WRITER_IS_REFUSED, "under the lock: finds its heartbeat expired, or a planned rollback; releases the lock",
           "{actor} finds that it was taken for dead"),
    Action(WRITER_GIVES_UP, "deletes its files, then, under the lock, its pending instant",
           "{actor} takes its files and its instant back"),
)  # fmt: skip
