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
from ..kernel.lock import LOCK_IS_FREE, released
from ..machine.transition import Changes, Choice, Guard, Transition, given, transition
from ..mechanisms.metadata_table.listing import step_before
from ..mechanisms.restores import Restore, is_undone
from .clock import clock_of, clock_readings

Decisions = tuple[Any, ...]
Published = tuple[Any, ...]

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


def is_caught_up(decisions: Decisions, published: Published) -> bool:
    return not undecided(decisions, published)


def some_unpublished(decisions: Decisions, published: Published) -> bool:
    return bool(undecided(decisions, published))


ALL_PUBLISHED = Guard("everything decided must be published", is_caught_up)
SOME_UNPUBLISHED = Guard("a commit must be decided and not published", some_unpublished)


def caught_up(each: Transition, setting: Setting) -> Transition:
    """What an actor finds that looks under the lock: where decisions are logged all of them are published first."""
    return each.require(ALL_PUBLISHED) if setting.protocol.decision == "log" else each


FINISHING = ("compactor", "log_compactor", "restorer", "rollbacker")
"""The kinds that publish, before anything else, what another has decided and may have died with."""


def publish_decided(decisions: Decisions, published: Published) -> Changes:
    """Publish what another actor has decided."""
    return {"published": (*published, undecided(decisions, published)[0])}


def finishing(kind: str, me: str) -> Transition:
    """Under the lock: a service that does nothing else with it publishes the next decision."""
    return transition(f"{kind}_finishes_decided", me, at="idle", guards=(LOCK_IS_FREE, SOME_UNPUBLISHED),
                      effect=publish_decided, changes=("published",))  # fmt: skip


def decision_transitions(
    kind: str, me: str, setting: Setting, publish: Callable[[Any], tuple[Any, Any]], requested: str
) -> Iterator[Transition]:
    """The transitions from the lock to the published instant, where decisions are logged.

    The field `seen` of an actor is how many numbers were taken when it looked; its own is the next.
    """
    yield transition(f"{kind}_publishes_decided", me, at="under the lock", guards=(SOME_UNPUBLISHED,),
                     effect=publish_decided, changes=("published",))  # fmt: skip
    yield transition(f"{kind}_takes_completion_time", me, at="under the lock", to=step_before(setting, READY),
                     guards=(ALL_PUBLISHED,), arguments=clock_readings,
                     effect=given(take_decision_time, field=requested), changes=("own", "clock"))  # fmt: skip
    decides = Choice(number_is_taken, (look_again,), (given(decide, publish=publish),))
    yield transition(f"{kind}_decides_instant", me, at=READY, effect=decides, changes=("own", "decisions"))
    yield transition(f"{kind}_publishes_instant", me, at=DECIDED, effect=given(publish_own_decision, publish=publish),
                     changes=("own", "lock", "published"))  # fmt: skip


def take_decision_time(
    own: Any, clock: int, decisions: Decisions, setting: Setting, field: str, *, ahead: int = 0
) -> Changes:
    """Take a completion time, greater than that of the last decision."""
    after = max(getattr(own, field), last_time(decisions))
    completed, later = clock_of(setting.world, setting.protocol).take(clock, ahead, after=after)
    return {"own": own._replace(completed=completed, seen=len(decisions)), "clock": later}


def number_is_taken(own: Any, decisions: Decisions) -> bool:
    return bool(len(decisions) > own.seen)


def look_again(own: Any) -> Changes:
    """Another actor has taken the number: go back under the lock."""
    return {"own": own._replace(step="under the lock", completed=0, seen=0)}


def decide(own: Any, decisions: Decisions, publish: Callable[[Any], tuple[Any, Any]]) -> Changes:
    """Put the commit under the next number of the log."""
    return {"own": own._replace(step=DECIDED, seen=0), "decisions": (*decisions, publish(own)[1])}


def publish_own_decision(
    own: Any, me: str, lock: str | None, published: Published, publish: Callable[[Any], tuple[Any, Any]],
    restores: tuple[Restore, ...] = (),
) -> Changes:  # fmt: skip
    """Put the completed instant, unless another actor has put it, or a restore has undone it."""
    after, entry = publish(own)
    there = entry in published or is_undone(restores, entry.requested)
    return {"own": after, "lock": released(lock, me), "published": published if there else (*published, entry)}
