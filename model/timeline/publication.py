"""How any actor publishes a completed instant: lock, completion time, completed file (RFC-66, "Assumption On Locks").

The RFC: taking the completion time and creating the completed file have atomicity together, under one lock. Readers
hold no lock and can look between the two, so they are two actions. `completion_time = outside_lock` takes the time
first and the lock afterwards, for the completed file alone.

A lock can be lost while its holder lives (`world.lock_losses`, fault set F1), which nothing tells the holder. With
`fencing = storage` a put carries the number of its lock, and the store refuses it once it has seen a greater one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..actions import Setting
from ..kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, released
from ..machine.transition import Action, Changes, Choice, Effect, Guard, Transition, given, go_to, transition
from ..mechanisms.metadata_table.listing import (
    PUBLISHED,
    TOLD,
    UNLISTED,
    Telling,
    listing,
    listing_transitions,
    step_before,
)
from ..protocol import Protocol
from .clock import clock_of, clock_readings
from .decisions import BY_LOG, decision_transitions
from .decisions import READY as READY_TO_DECIDE
from .waiting import reading

Publish = Callable[[Any], tuple[Any, Any]]
"""The next value of an actor that publishes its instant, and the entry that it appends to the published timeline."""

UNDER_LOCK = "under the lock"
CHECKED = "sure that nothing conflicts"
READY = "ready to publish"
"""The step from which an instant is published, whatever came before it."""
TIMED_EARLY = "given a completion time"


class Check(NamedTuple):
    """A condition of publication. An actor that fails it takes another transition.

    `under_lock`: asked when the lock is held; else together with taking it, and an actor that fails does not take it.
    """

    guard: Guard
    under_lock: bool = True

    def asked_at(self, since: str, protocol: Protocol) -> str:
        """The step at which it is asked, of an actor that is about to publish since the step `since`."""
        if not self.under_lock:
            return since
        return UNDER_LOCK if protocol.completion_time == "under_lock" else READY


def both(one: Check | None, other: Check | None) -> Check | None:
    """Two checks that are made together, under the lock; each may be missing."""
    return one or other if one is None or other is None else Check(one.guard & other.guard)


def publication_actions(kind: str, within_call: bool = False) -> tuple[Action, ...]:
    """The actions of one actor kind; where decisions are logged it has more (`actions.decision_log`).

    `within_call`: a client publishes in the very call that does its work (grain `peer`).
    """
    return (
        Action(f"{kind}_takes_lock", "takes the table's lock", "{actor} takes the lock", joins=within_call),
        Action(f"{kind}_takes_completion_time", "takes its completion time", "{actor} takes its completion time",
               joins=True),
        Action(f"{kind}_publishes_instant", "puts the completed instant, gives the lock back", "{actor} publishes",
               joins=True),
    )  # fmt: skip


def publication(
    kind: str,
    me: str,
    since: str,
    setting: Setting,
    publish: Publish,
    *,
    requested: str = "requested",
    cleared: tuple[Guard, ...] = (),
    check: Check | None = None,
    undone: str = "",
) -> Iterator[Transition]:
    """The transitions that lead `me` from the step `since` to a published instant.

    `requested` is the field of the actor with the requested time of its instant. `cleared` are conditions over the
    actor itself that must hold before the last steps. `undone` is the field with the requested time of the write that
    its instant takes back, '' if it takes back none.
    """
    protocol, when_told = setting.protocol_of(me), listing(setting)
    tells = Telling(me, setting, publish, requested, undone)
    if when_told == "before the lock":
        yield from listing_transitions(tells, since, then=go_to(TOLD))
        since = TOLD

    def checked(each: Transition) -> Transition:
        asked = check is not None and each.at == check.asked_at(since, protocol)
        return each.require(check.guard) if asked and check else each

    if setting.protocol.decision == "log" and kind in BY_LOG:
        yield checked(taking_lock(kind, me, setting, at=since, to=UNDER_LOCK))
        for each in decision_transitions(kind, me, setting, publish, requested):
            takes_time = each.action == f"{kind}_takes_completion_time"
            yield reading(setting, checked(each)) if takes_time else each
        if when_told:
            yield from listing_transitions(tells, UNLISTED, then=go_to(READY_TO_DECIDE))
        return
    times = transition(f"{kind}_takes_completion_time", me, changes=("own", "clock"), arguments=clock_readings,
                       effect=given(take_completion_time, field=requested))  # fmt: skip
    if protocol.completion_time == "under_lock":
        yield checked(taking_lock(kind, me, setting, at=since, to=UNDER_LOCK))
        timed = replace(times, at=UNDER_LOCK, to=step_before(setting, READY), guards=(*cleared, *believes(setting)))
        yield reading(setting, checked(timed))
    else:
        yield reading(setting, checked(replace(times, at=since, to=TIMED_EARLY)))
        yield taking_lock(kind, me, setting, at=TIMED_EARLY, to=step_before(setting, READY))
    if when_told == "before the data":
        yield from listing_transitions(tells, UNLISTED, then=go_to(READY))
    yield checked(_publishing(kind, me, setting, publish).require(*cleared))
    if when_told == "after the data":
        yield from listing_transitions(tells, PUBLISHED, then=given(publish_own, publish=publish))


def believes(setting: Setting) -> tuple[Guard, ...]:
    """An actor that took the lock holds it. If locks can be lost it only believes so, and nothing is asked."""
    return () if setting.world.lock_losses else (HOLDS_LOCK,)


def noted_by_store(setting: Setting, each: Transition) -> Transition:
    """A put under the lock: a store that fences has then seen a lock newer than all that were lost."""
    return each.extend(forget_lost_locks, "fence") if setting.fenced else each


def forget_lost_locks() -> Changes:
    return {"fence": ()}


def taking_lock(kind: str, me: str, setting: Setting, *, at: str, to: str) -> Transition:
    """The transition that takes the lock."""
    takes = transition(f"{kind}_takes_lock", me, at=at, to=to, guards=(LOCK_IS_FREE,), effect=take_lock,
                       changes=("own", "lock"))  # fmt: skip
    return takes.extend(note_newest_lock, "fence") if setting.fenced else takes


def take_lock(me: str) -> Changes:
    return {"lock": me}


def release_lock(lock: str | None, me: str) -> Changes:
    return {"lock": released(lock, me)}


def note_newest_lock(fence: tuple[Any, ...], me: str) -> Changes:
    """`fencing = storage`: the locks that were taken, in this order."""
    return {"fence": (*(name for name in fence if name != me), me)}


def take_completion_time(own: Any, clock: int, setting: Setting, field: str, *, ahead: int = 0) -> Changes:
    """Take a completion time, greater than the requested time of the instant."""
    clocks = clock_of(setting.world, setting.protocol)
    completed, later = clocks.take(clock, ahead, after=getattr(own, field))
    return {"own": own._replace(completed=completed), "clock": later}


def _publishing(kind: str, me: str, setting: Setting, publish: Publish) -> Transition:
    effects: tuple[Effect, ...] = (given(publish_instant, publish=publish),)
    if listing(setting) == "after the data":
        effects = (given(append_entry, publish=publish), go_to(PUBLISHED))
    each = transition(f"{kind}_publishes_instant", me, at=READY, guards=believes(setting),
                      changes=("own", "lock", "published"))  # fmt: skip
    if not setting.fenced:
        return replace(each, effects=effects)
    refused = (release_lock, note_refusal, go_to("idle"))
    put = Choice(lock_is_newest, (note_put, *effects), refused)
    return replace(each, effects=(put,), changes=(*each.changes, "fence"))


def publish_instant(own: Any, me: str, lock: str | None, published: tuple[Any, ...], publish: Publish) -> Changes:
    """Put the completed instant and release the lock."""
    after, entry = publish(own)
    return {"own": after, "lock": released(lock, me), "published": (*published, entry)}


def append_entry(own: Any, published: tuple[Any, ...], publish: Publish) -> Changes:
    """Put the completed instant, and keep the lock: its files are not listed yet."""
    return {"published": (*published, publish(own)[1])}


def publish_own(own: Any, publish: Publish) -> Changes:
    """The actor after its instant is published."""
    return {"own": publish(own)[0]}


def lock_is_newest(fence: tuple[Any, ...], me: str) -> bool:
    """Whether the store has seen no put under a newer lock."""
    return me in fence


def note_put(fence: tuple[Any, ...], me: str) -> Changes:
    """The store refuses the locks that are older than the one of this put."""
    return {"fence": fence[fence.index(me) + 1 :]}


def note_refusal(fence: tuple[Any, ...], me: str) -> Changes:
    """The store refuses a put under a lock that is not the newest any more."""
    return {"fence": (*fence, ("refused", me))}
