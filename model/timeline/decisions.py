"""The decision log: entries that are put if absent under dense numbers decide what commits, and in which order.

Whoever takes a number has first published all that was decided before it, and its completion time is greater than
theirs, so that a lock that was lost costs a second try and never an order. A plan's barrier takes a number, too: no
write whose completion is decided later can lie before it. So does the plan of a rollback, which decides against a
commit: of the two whoever is later finds its number taken, looks again, and sees the other. So does that of a
clean: what it deletes is what nobody needs, and a plan decided since may need it. That of a log compaction must leave
no gap, that of a replace is a barrier, and that of a restore names all that has completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..actions import Setting
from ..conditions import at, lock_is_free
from ..metadata import step_before
from ..step import Guard, Row
from ..table import is_undone
from .clock import clock_of

BY_LOG = ("cleaner", "compactor", "loader", "log_compactor", "replacer", "restorer", "rollbacker", "writer")
"""The kinds whose commits the log decides."""

READY, DECIDED = "ready to decide", "decided"


def undecided(decisions: tuple[Any, ...], published: tuple[Any, ...]) -> tuple[Any, ...]:
    """The commit that is decided and not published, if there is one. A barrier (a number) was published with its
    decision; of the others but the last can be missing: who took a number after them saw them published, and what is
    not there now, a restore has undone.
    """
    return tuple(entry for entry in decisions[-1:] if not isinstance(entry, int) and entry not in published)


def last_time(decisions: tuple[Any, ...]) -> int:
    """The time of the last decision, 0 if there is none."""
    if not decisions:
        return 0
    last = decisions[-1]
    return int(last if isinstance(last, int) else last.completed)


ALL_PUBLISHED = "everything decided must be published"
SOME_UNPUBLISHED = "a commit must be decided and not published"


def caught_up(row: Row, setting: Setting, unless: Callable[[Any], bool] = lambda own: False) -> Row:
    """What somebody finds who looks under the lock: where decisions are logged all that is decided is published first.

    `unless(own)`: it looks without the lock.
    """
    if setting.protocol.decision != "log":
        return row
    first = Guard(ALL_PUBLISHED, lambda own, *seen: unless(own) or not undecided(*seen))
    return row.asking(first, "decisions", "published")


FINISHING = ("compactor", "log_compactor", "restorer", "rollbacker")
"""The kinds that publish, before anything else, what somebody has decided and may have died with."""


def finishing_row(kind: str, me: str) -> Row:
    """Under the lock: the next that is decided is published, by a service that has nothing else to do with it."""
    some = Guard(SOME_UNPUBLISHED, lambda own, lock, decisions, published: bool(undecided(decisions, published)))
    reads = (me, "lock", "decisions", "published")
    return Row(f"{kind}_finishes_decided", me, reads, ("published",), (at(me, "idle"),),
               lambda own, lock, decisions, published: ((*published, undecided(decisions, published)[0]),),
               (lock_is_free(), some))  # fmt: skip


def decision_rows(
    kind: str,
    me: str,
    setting: Setting,
    publish: Callable[[Any], tuple[Any, Any]],
    requested: Callable[[Any], int],
) -> Iterator[Row]:
    """The rows from the lock to the published instant, where decisions are logged.

    An actor's `seen` is how many numbers were taken when it looked; its own is the next.
    """
    clocks, ready = clock_of(setting.world, setting.protocol), step_before(setting, READY)

    def timed(own: Any, clock: int, decisions: Any, published: Any, *_: Any, ahead: int = 0) -> tuple[Any, ...]:
        completed, later = clocks.take(clock, ahead, after=max(requested(own), last_time(decisions)))
        return own._replace(step=ready, completed=completed, seen=len(decisions)), later

    def decides(own: Any, decisions: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(decisions) > own.seen:  # the number is taken: look again
            return own._replace(step="under the lock", completed=0, seen=0), decisions
        _, entry = publish(own)
        return own._replace(step=DECIDED, seen=0), (*decisions, entry)

    restores = setting.if_any("restores")

    def publishes(own: Any, lock: str | None, published: tuple[Any, ...], *restored: Any) -> tuple[Any, ...]:
        after, entry = publish(own)
        there = entry in published or any(is_undone(each, entry.requested) for each in restored)
        return after, None if lock == me else lock, published if there else (*published, entry)

    yield Row(f"{kind}_publishes_decided", me, (me, "decisions", "published"), ("published",),
              (at(me, "under the lock"),),
              lambda own, decisions, published: ((*published, undecided(decisions, published)[0]),),
              (Guard(SOME_UNPUBLISHED, lambda own, d, p: bool(undecided(d, p))),)
              )  # fmt: skip
    yield Row(f"{kind}_takes_completion_time", me, (me, "clock", "decisions", "published"), (me, "clock"),
              (at(me, "under the lock"),), timed,
              (Guard(ALL_PUBLISHED, lambda own, clock, d, p, *_: not undecided(d, p)),),
              lambda *_: clocks.readings())  # fmt: skip
    yield Row(f"{kind}_decides_instant", me, (me, "decisions"), (me, "decisions"), (at(me, READY),), decides)
    yield Row(f"{kind}_publishes_instant", me, (me, "lock", "published", *restores), (me, "lock", "published"),
              (at(me, DECIDED),), publishes)  # fmt: skip
