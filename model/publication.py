"""How any actor publishes a completed instant: lock, completion time, completed file (RFC-66, "Assumption On Locks").

The RFC: taking the completion time and creating the completed file have atomicity together, under one lock. Readers
hold no lock and can look between the two, so they are two actions. `completion_time = outside_lock` takes the time
first and the lock afterwards, for the completed file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .actions import Setting
from .clock import clock_of
from .conditions import at, holds_lock, lock_is_free
from .step import Action, Guard, Row

UNDER_LOCK = "under the lock"
CHECKED = "sure that nothing conflicts"
READY = "ready to publish"
"""The step from which `publishes` happens, whatever came before it."""


def publication_actions(kind: str) -> tuple[Action, Action, Action]:
    """The three actions of one actor kind."""
    return (
        Action(f"{kind}_takes_lock", "takes the table's lock", "{actor} takes the lock"),
        Action(f"{kind}_takes_completion_time", "takes its completion time", "{actor} takes its completion time"),
        Action(f"{kind}_publishes_instant", "puts the completed instant, gives the lock back", "{actor} publishes"),
    )


def publication_rows(
    kind: str,
    me: str,
    since: str,
    setting: Setting,
    publish: Callable[[Any], tuple[Any, Any]],
    *,
    requested: Callable[[Any], int] = lambda own: own.requested,
    cleared: tuple[Guard, ...] = (),
) -> Iterator[Row]:
    """The rows that lead `me` from the step `since` to a published instant.

    `publish(own)` gives the actor's next value and the entry that is appended to the published timeline;
    `requested(own)` the instant's requested time, which its completion time is greater than whatever the clock says.
    `cleared` are conditions over the actor itself that must hold before the last steps.
    """
    clocks = clock_of(setting.world, setting.protocol)

    def publishes(own: Any, lock: str, published: tuple[Any, ...]) -> tuple[Any, ...]:
        after, entry = publish(own)
        return after, None, (*published, entry)

    def taking_lock(before: str, then: str) -> Row:
        return Row(f"{kind}_takes_lock", me, (me, "lock"), (me, "lock"), (at(me, before),),
                   lambda own, lock: (own._replace(step=then), me), (lock_is_free(),))  # fmt: skip

    def timed(own: Any, clock: int, then: str, ahead: int = 0) -> tuple[Any, ...]:
        completed, later = clocks.take(clock, ahead, after=requested(own))
        return own._replace(step=then, completed=completed), later

    name = f"{kind}_takes_completion_time"
    if setting.protocol_of(me).completion_time == "under_lock":
        yield taking_lock(since, UNDER_LOCK)
        yield Row(name, me, (me, "lock", "clock"), (me, "clock"), (at(me, UNDER_LOCK), *cleared),
                  lambda own, lock, clock, **args: timed(own, clock, READY, **args), (holds_lock(me),),
                  lambda *_: clocks.readings())  # fmt: skip
    else:
        yield Row(name, me, (me, "clock"), (me, "clock"), (at(me, since),),
                  lambda own, clock, **args: timed(own, clock, "given a completion time", **args),
                  choices=lambda *_: clocks.readings())  # fmt: skip
        yield taking_lock("given a completion time", READY)
    yield Row(f"{kind}_publishes_instant", me, (me, "lock", "published"), (me, "lock", "published"),
              (at(me, READY), *cleared), publishes, (holds_lock(me),))  # fmt: skip
