"""How any actor publishes a completed instant: lock, completion time, completed file (RFC-66, "Assumption On Locks").

The RFC: taking the completion time and creating the completed file have atomicity together, under one lock. Readers
hold no lock and can look between the two, so they are two actions. `completion_time = outside_lock` takes the time
first and the lock afterwards, for the completed file alone.

A lock can be lost while its holder lives (`world.lock_losses`, fault set F1), which nothing tells the holder. With
`fencing = storage` a put carries the number of its lock, and the store refuses it once it has seen a greater one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..actions import Setting
from ..conditions import at, holds_lock, lock_is_free
from ..metadata import PUBLISHED, TOLD, UNLISTED, listing, listing_rows, step_before
from ..protocol import Protocol
from ..step import Action, Guard, Row
from .clock import clock_of
from .decisions import BY_LOG, decision_rows
from .decisions import READY as READY_TO_DECIDE
from .waiting import reading

UNDER_LOCK = "under the lock"
CHECKED = "sure that nothing conflicts"
READY = "ready to publish"
"""The step from which `publishes` happens, whatever came before it."""


class Check(NamedTuple):
    """What an actor asks before it publishes. `passes(own, *values of reads)`; who fails stays where it is.

    `under_lock`: asked when the lock is held; else together with taking it, and whoever fails does not take it.
    """

    reason: str
    reads: tuple[str, ...]
    passes: Callable[..., bool]
    under_lock: bool = True

    def guard(self, position: int, fails: bool = False) -> Guard:
        """The condition of a row that reads `reads` from `position` on: the check is passed, or it is not."""
        reason = f"not: {self.reason}" if fails else self.reason
        mine = slice(position - 1, position - 1 + len(self.reads))
        return Guard(reason, lambda own, *values: self.passes(own, *values[mine]) != fails)

    def asked_at(self, since: str, protocol: Protocol) -> str:
        """The step at which it is asked, of an actor that is about to publish since the step `since`."""
        if not self.under_lock:
            return since
        return UNDER_LOCK if protocol.completion_time == "under_lock" else READY


def both(one: Check | None, other: Check | None) -> Check | None:
    """Two things that are asked together, under the lock; each may be missing."""
    if one is None or other is None:
        return one or other
    many = len(one.reads)
    return Check(
        f"{one.reason}; {other.reason}",
        (*one.reads, *other.reads),
        lambda own, *values: one.passes(own, *values[:many]) and other.passes(own, *values[many:]),
    )


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


def publication_rows(
    kind: str,
    me: str,
    since: str,
    setting: Setting,
    publish: Callable[[Any], tuple[Any, Any]],
    *,
    requested: Callable[[Any], int] = lambda own: own.requested,
    cleared: tuple[Guard, ...] = (),
    check: Check | None = None,
    undone: Callable[[Any], int] = lambda own: 0,
) -> Iterator[Row]:
    """The rows that lead `me` from the step `since` to a published instant.

    `publish(own)` gives the actor's next value and the entry that is appended to the published timeline;
    `requested(own)` the instant's requested time, which its completion time is greater than whatever the clock says.
    `cleared` are conditions over the actor itself that must hold before the last steps.
    Whoever does not pass `check` gets no further; what it does then is a row of its own.
    `undone(own)` is the requested time of the write that its instant takes back, 0 if it takes back none.
    """
    told = listing(setting)
    tells = partial(listing_rows, me, setting, publish=publish, requested=requested, undone=undone)
    if told == "before the lock":
        yield from tells(since, then=_to(TOLD))
        since = TOLD
    clocks = clock_of(setting.world, setting.protocol)
    checked = partial(_checked, check, since, setting.protocol_of(me))
    if setting.protocol.decision == "log" and kind in BY_LOG:
        yield checked(since, _taking_lock(kind, me, setting, since, UNDER_LOCK))
        for row in decision_rows(kind, me, setting, publish, requested):
            takes_time = row.action == f"{kind}_takes_completion_time"
            yield reading(setting, checked(UNDER_LOCK, row)) if takes_time else row
        if told:
            yield from tells(UNLISTED, then=_to(READY_TO_DECIDE))
        return

    def timed(own: Any, clock: int, then: str, ahead: int = 0) -> tuple[Any, ...]:
        completed, later = clocks.take(clock, ahead, after=requested(own))
        return own._replace(step=then, completed=completed), later

    ready = step_before(setting, READY)
    name = f"{kind}_takes_completion_time"
    if setting.protocol_of(me).completion_time == "under_lock":
        yield checked(since, _taking_lock(kind, me, setting, since, UNDER_LOCK))
        time = Row(name, me, (me, "lock", "clock"), (me, "clock"), (at(me, UNDER_LOCK), *cleared),
                   lambda own, lock, clock, *_, **args: timed(own, clock, ready, **args), believes(me, setting),
                   lambda *_: clocks.readings())  # fmt: skip
        yield reading(setting, checked(UNDER_LOCK, time))
    else:
        time = Row(name, me, (me, "clock"), (me, "clock"), (at(me, since),),
                   lambda own, clock, *_, **args: timed(own, clock, "given a completion time", **args),
                   choices=lambda *_: clocks.readings())  # fmt: skip
        yield reading(setting, checked(since, time))
        yield _taking_lock(kind, me, setting, "given a completion time", ready)
    if told == "before the data":
        yield from tells(UNLISTED, then=_to(READY))
    row = _publishing(kind, me, setting, publish)
    yield checked(READY, row._replace(own=(*row.own, *cleared)))
    if told == "after the data":
        yield from tells(PUBLISHED, then=lambda own: publish(own)[0])


def _checked(check: Check | None, since: str, protocol: Protocol, before: str, row: Row) -> Row:
    """The row with the check, if it is asked at the step `before`, from which it happens."""
    if check is None or before != check.asked_at(since, protocol):
        return row
    return row.asking(check.guard(1), *check.reads)


def _to(step: str) -> Callable[[Any], Any]:
    return lambda own: own._replace(step=step)


def believes(me: str, setting: Setting) -> tuple[Guard, ...]:
    """Whoever took the lock holds it, unless locks can be lost: then it only believes so."""
    return () if setting.world.lock_losses else (holds_lock(me),)


def put_by_another(setting: Setting) -> tuple[str, ...]:
    """What any other put under the lock changes: the store has seen a lock that is newer than all that were lost."""
    return ("fence",) if setting.fenced else ()


def given_back(me: str, lock: str | None) -> str | None:
    """The lock after `me` gave back what it believes to hold."""
    return None if lock == me else lock


def _taking_lock(kind: str, me: str, setting: Setting, before: str, then: str) -> Row:
    fenced = ("fence",) if setting.fenced else ()

    def takes(own: Any, lock: None, *more: tuple[Any, ...]) -> tuple[Any, ...]:
        later = ((*(name for name in more[0] if name != me), me),) if fenced else ()
        return own._replace(step=then), me, *later

    reads = (me, "lock", *fenced)
    return Row(f"{kind}_takes_lock", me, reads, reads, (at(me, before),), takes, (lock_is_free(),))


def _publishing(kind: str, me: str, setting: Setting, publish: Callable[[Any], tuple[Any, Any]]) -> Row:
    fenced = ("fence",) if setting.fenced else ()
    listed_later = listing(setting) == "after the data"

    def publishes(own: Any, lock: str | None, published: tuple[Any, ...], *more: Any) -> tuple[Any, ...]:
        fence = more[: len(fenced)]
        if fence and me not in fence[0]:
            return own._replace(step="idle"), given_back(me, lock), published, (*fence[0], ("refused", me))
        after, entry = publish(own)
        seen = (fence[0][fence[0].index(me) + 1 :],) if fence else ()
        if listed_later:
            return own._replace(step=PUBLISHED), lock, (*published, entry), *seen
        return after, given_back(me, lock), (*published, entry), *seen

    reads = (me, "lock", "published", *fenced)
    return Row(f"{kind}_publishes_instant", me, reads, reads, (at(me, READY),), publishes, believes(me, setting))
