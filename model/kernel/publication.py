"""Publication is one critical section: take the lock, take the completion time, publish, release the lock.

RFC-66, "Assumption On Locks", requires one lock for taking the completion time and creating the completed file. Because
of the lock, instants are published in the order of their completion times. Every publishing actor has three
transitions: take the lock; take the completion time; publish and release the lock. Requested times, like completion
times, are taken under the lock. Readers list the timeline without the lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..machine.composition import Composition
from ..machine.transition import Action, Changes, preset, transition
from .clock import READS_CLOCK, TakeTime
from .lock import HOLDS_LOCK, LOCK_IS_FREE, released, take_lock

TAKES_LOCK, TAKES_COMPLETION_TIME, PUBLISHES = "takes lock", "takes completion time", "publishes"
COMMITS = "commits"
"""The tag of the first transition after the lock is taken. By default, that one takes the completion time; the last
one publishes. Mechanisms add their guards of a commit to it.
"""
BEGINS = "begins to publish"
"""The tag of the first transition of a publication. Mechanisms insert steps before publication here."""
ABANDONS = "abandons under the lock"
"""The tag of a transition by which an actor abandons its instant under the lock. Mechanisms with a check add it."""

UNDER_LOCK, READY = "under the lock", "ready to publish"

Publish = Callable[[Any], tuple[Any, Any]]
"""The component of an actor -> (its component after publication, the completed instant)."""


class Publication(NamedTuple):
    """Describes how one actor publishes from step `since`. The actor's field `requested` holds the requested time."""

    kind: str
    actor: str
    since: str
    publish: Publish
    requested: str = "requested"


def publication(composition: Composition, each: Publication) -> None:
    """Add the three transitions by which an actor publishes: take the lock, take the completion time, publish."""
    kind, me = each.kind, each.actor
    composition.add(
        transition(f"{kind}_takes_lock", me, at=each.since, to=UNDER_LOCK, guards=(LOCK_IS_FREE,), effect=take_lock,
                   changes=("own", "lock"), tags=(TAKES_LOCK, BEGINS)),
        transition(f"{kind}_takes_completion_time", me, at=UNDER_LOCK, to=READY, guards=(HOLDS_LOCK,),
                   effect=preset(take_completion_time, requested=each.requested), changes=("own", "clock"),
                   tags=(TAKES_COMPLETION_TIME, READS_CLOCK, COMMITS)),
        transition(f"{kind}_publishes_instant", me, at=READY, guards=(HOLDS_LOCK,),
                   effect=preset(publish_instant, publish=each.publish), changes=("own", "lock", "published"),
                   tags=(PUBLISHES,)),
    )  # fmt: skip
    composition.register(each)


def take_completion_time(own: Any, clock: int, completion_time: TakeTime, requested: str) -> Changes:
    """Take a completion time later than the requested time of the instant."""
    # Later than the requested time, because the two may come from clocks of different actors.
    completed, clock = completion_time(clock, after=getattr(own, requested))
    return {"own": own._replace(completed=completed), "clock": clock}


def publish_instant(own: Any, me: str, lock: str | None, published: tuple[Any, ...], publish: Publish) -> Changes:
    """Put the completed instant on the timeline and release the lock."""
    after, instant = publish(own)
    return {"own": after, "lock": released(lock, me), "published": (*published, instant)}


def publication_actions(kind: str, within_call: bool = False) -> tuple[Action, ...]:
    """Return the three actions of a publication. If `within_call` is True, one client call writes and publishes."""
    return (
        Action(f"{kind}_takes_lock", "takes the table's lock", "{actor} takes the lock", continues_call=within_call),
        Action(f"{kind}_takes_completion_time", "takes its completion time", "{actor} takes its completion time",
               continues_call=True),
        Action(f"{kind}_publishes_instant", "puts the completed instant and releases the lock", "{actor} publishes",
               continues_call=True),
    )  # fmt: skip
