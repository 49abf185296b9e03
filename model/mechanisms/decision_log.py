"""The decision log is a sequence of numbered entries that decides which instants commit, and in which order. Entries
are written with put-if-absent, so that no two entries have the same number.

Here each commit has an entry of its own (`decision = log`). The mechanism `announcements` has the entries that decide
several commits.

An actor puts an entry only after the instants of all lower-numbered entries have been published. The completion time in
a new entry is later than all times in lower-numbered entries. If a lock is lost, a write may have to retry, but the
order of commits does not change. The plan of a table service gets an entry in the decision log as well. A write whose
entry follows a plan's entry cannot complete before that plan's requested time. If a rollback and a commit try to write
the entry with the same number, the loser repeats its checks under the lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.clock import TakeTime
from ..kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, released
from ..kernel.publication import (
    ABANDONS,
    PUBLISHES,
    TAKES_COMPLETION_TIME,
    UNDER_LOCK,
    Publication,
    Publish,
)
from ..kernel.table import Instant
from ..kernel.timeline import PENDING
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.plans import DONE, Planner
from ..machine.transition import Action, Branch, Changes, Component, Guard, Transition, preset, transition
from ..protocol import Protocol
from .lost_locks import PUTS_PLAN, TAKES_TIME, plan_is_there
from .rivals import WITHOUT_FILES, Removal

Decisions = tuple[Any, ...]
"""Completed instants, and the times of plans, in the order of their numbers."""

READY_TO_DECIDE, DECIDED = "ready to decide", "decided"
NOT_BY_LOG = ("schema_evolver", "clusterer")
"""The kinds whose commits are not modelled with a decision log."""
FINISHING = ("compactor", "log_compactor", "restorer", "rollbacker")
"""The kinds that publish the last decision of another actor before they begin: that actor may have died."""


class DecisionLog(Options):
    """The option that selects how commits are decided: by the lock or by a decision log."""

    decision: Literal["lock", "log", "shared", "free"] = option(
        "lock",
        "lock: an actor commits by publishing under the lock; log: it commits by putting the next number of a log; "
        "shared: it announces its commit, and the holder of the lock decides all announced commits in one entry of the "
        "log; free: the same without a lock, by whichever actor creates the next entry",
    )


TOGETHER = ("shared", "free")
"""The values of `decision` under which one entry of the log decides the commits of several actors."""


class Seen(NamedTuple):
    """The number of entries in the decision log when an actor last listed it. The actor's next entry must have the
    next number.
    """

    decisions: int = 0


def is_logged(composition: Composition) -> bool:
    """True if each commit has an entry of its own in the decision log (`decision = log`)."""
    return composition.protocol[DecisionLog].decision == "log"


def decides_together(composition: Composition) -> bool:
    """True if one entry of the decision log decides the commits of several actors (`announcements`)."""
    return composition.protocol[DecisionLog].decision in TOGETHER


def is_decided_by_log(composition: Composition, kind: str) -> bool:
    """True if the commits of this kind of actor are decided by the decision log."""
    return is_logged(composition) and kind not in NOT_BY_LOG


def compose(composition: Composition) -> None:
    """Make each commit, and each plan of a table service, take effect with an entry in the decision log."""
    if not is_logged(composition):
        return
    composition.add_component("decisions", ())
    composition.map_view(PENDING, without_published)
    composition.map_view(DONE, decided)
    deciders = {me: each for me, each in composition.facts(Publication).items() if each.kind not in NOT_BY_LOG}
    for kind in {each.kind for each in deciders.values()}:
        composition.add_field(kind, "seen", Seen())
    composition.map_view("completion_time", completion_after_decisions, deciders)
    composition.map_view("request_time", request_after_decisions, composition.facts(Planner))
    for each in deciders.values():
        _publication(composition, each)
    composition.find(ABANDONS).require(ALL_PUBLISHED)
    for planner in composition.facts(Planner).values():
        _plan(composition, planner)
    composition.find("querier_settles").extend(decide_time, "decisions", "published")
    for kind in FINISHING:
        for me in composition.actors_of(kind):
            composition.add(transition(f"{kind}_finishes_decided", me, at="idle", effect=publish_decided,
                                       guards=(LOCK_IS_FREE, SOME_UNPUBLISHED), changes=("published",)))  # fmt: skip


def unpublished_decisions(decisions: Decisions, published: tuple[Any, ...]) -> Decisions:
    """Return the commit that is decided but not yet published, as a tuple of at most one entry.

    An actor puts an entry only after all previous commits are published. Therefore, only the last entry may be an
    unpublished commit. An entry for a plan contains nothing but the plan's requested time. The plan itself is put on
    the timeline in the same step as the entry.
    """
    return tuple(entry for entry in decisions[-1:] if not isinstance(entry, int) and entry not in published)


def last_time(decisions: Decisions) -> int:
    """Return the time of the last entry in the decision log; 0 if the log is empty."""
    if not decisions:
        return 0
    last = decisions[-1]
    return int(last if isinstance(last, int) else last.completed)


def is_caught_up(decisions: Decisions, published: tuple[Any, ...]) -> bool:
    return not unpublished_decisions(decisions, published)


def some_unpublished(decisions: Decisions, published: tuple[Any, ...]) -> bool:
    return bool(unpublished_decisions(decisions, published))


ALL_PUBLISHED = Guard("everything decided must be published", is_caught_up)
SOME_UNPUBLISHED = Guard("a commit must be decided and not published", some_unpublished)


def without_published(pending_instants: Iterable[Instant], published: tuple[Any, ...]) -> Iterator[Instant]:
    """Redefine the view `pending_instants` to omit decided instants that another actor has already published. They may
    be archived since.
    """
    known = {(entry.requested, entry.action) for entry in published}
    for each in pending_instants:
        if (each.requested, each.completes_as) not in known or each.action == "savepoint":
            yield each


def decided(decisions: Decisions) -> Decisions:
    """Define the view of instants that count as done: those in the decision log. If the last of them is not yet
    published, the next actor that appends to the log publishes it first.
    """
    return decisions


def completion_after_decisions(completion_time: TakeTime, decisions: Decisions) -> TakeTime:
    """Define the view `completion_time`: completion times are later than all times in the decision log."""
    return partial(take_time_after, completion_time, last_time(decisions))


def request_after_decisions(request_time: TakeTime, decisions: Decisions) -> TakeTime:
    """Redefine the view `request_time` for actors that plan, so that requested times are later than the decision log's
    last entry.
    """
    return partial(take_time_after, request_time, last_time(decisions))


def take_time_after(
    take: TakeTime, last: int, clock: int, after: int = 0, action: str = "", **reading: int
) -> tuple[int, int]:
    return take(clock, max(after, last), action, **reading)


def _publication(composition: Composition, each: Publication) -> None:
    kind, me = each.kind, each.actor
    time = composition.select(TAKES_COMPLETION_TIME, actors=[me])
    time.replace(decides_later)
    time.extend(note_decisions, "own_seen")
    decides = Branch(number_is_taken, (look_again,), (preset(decide, publish=each.publish),))
    composition.add(
        transition(f"{kind}_publishes_decided", me, at=UNDER_LOCK, guards=(SOME_UNPUBLISHED,), effect=publish_decided,
                   changes=("published",)),
        transition(f"{kind}_decides_instant", me, at=READY_TO_DECIDE, effect=decides, changes=("own", "decisions")),
    )  # fmt: skip
    publish = (preset(publish_own_decision, publish=each.publish),)
    publishes = composition.select(PUBLISHES, actors=[me])
    publishes.replace(lambda last: replace(last, at=DECIDED, guards=(), effects=publish, tags=last.tags | {DECIDED}))
    if removal := composition.facts(Removal).get(me):
        publishes.precede(removal.effect, WITHOUT_FILES)


def decides_later(timed: Transition) -> Transition:
    """Return a copy of the transition `timed`, which takes the completion time. After the copy, the actor appends to
    the decision log.
    """
    # The lock is not required any more: the number of the entry decides, also for an actor that has lost the lock.
    asked = (guard for guard in timed.guards if guard is not HOLDS_LOCK)
    return replace(timed, guards=(ALL_PUBLISHED, *asked), to=READY_TO_DECIDE)


def publish_decided(decisions: Decisions, published: tuple[Any, ...]) -> Changes:
    """Publish the decided instant of another actor."""
    return {"published": (*published, unpublished_decisions(decisions, published)[0])}


def note_decisions(decisions: Decisions) -> Changes:
    """Record how many entries the decision log has."""
    return {"own_seen": Seen(len(decisions))}


def forget_decisions() -> Changes:
    return {"own_seen": Seen()}


def number_is_taken(own_seen: Seen, decisions: Decisions) -> bool:
    return len(decisions) > own_seen.decisions


def look_again(own: Any) -> Changes:
    """Repeat the checks under the lock, because another actor has already put the entry with the same number."""
    # The completion time goes, too: the entry that was faster may have a later one.
    return {"own": own._replace(step=UNDER_LOCK, completed=0), "own_seen": Seen()}


def decide(own: Any, decisions: Decisions, publish: Publish) -> Changes:
    """Put the commit as the next entry of the decision log."""
    return {"own": own._replace(step=DECIDED), "own_seen": Seen(), "decisions": (*decisions, publish(own)[1])}


def publish_own_decision(
    own: Any, me: str, lock: str | None, published: tuple[Any, ...], publish: Publish,
    restores: tuple[Any, ...] = (),
) -> Changes:  # fmt: skip
    """Publish the decided instant, unless another actor has already published it or a restore has undone it."""
    after, entry = publish(own)
    there = entry in published or any(entry.requested in each.undone for each in restores)
    return {"own": after, "lock": released(lock, me), "published": published if there else (*published, entry)}


def decide_time(own: Any, decisions: Decisions, published: tuple[Any, ...]) -> Changes:
    """Publish the last decided commit, if it is unpublished. Then append the time of a query to the decision log, so
    that all later entries have greater times than the query.
    """
    unpublished = unpublished_decisions(decisions, published)
    return {"published": (*published, *unpublished), "decisions": (*decisions, own.settled)}


def _plan(composition: Composition, planner: Planner) -> None:
    number = preset(take_number, requested=planner.requested)
    if not (halves := composition.find(PUTS_PLAN, actors=[planner.actor])):
        composition.select(planner.action, actors=[planner.actor]).require(ALL_PUBLISHED).extend(number, "decisions")
        return
    composition.select(TAKES_TIME, actors=[planner.actor]).require(ALL_PUBLISHED).extend(note_decisions, "own_seen")
    late = preset(plan_is_late, plans=Component(planner.plans), requested=planner.requested)

    def numbered(puts: Transition) -> Transition:
        [found] = puts.effects
        assert isinstance(found, Branch), "a lost lock leaves a choice: put the plan, or give it up"
        release, *more = found.otherwise
        put = Branch(late, found.then, (release, forget_decisions, *more, number))
        return replace(puts, effects=(put,), changes=(*puts.changes, "decisions"))

    halves.replace(numbered)


def take_number(own: Any, decisions: Decisions, requested: str) -> Changes:
    """Put the plan's requested time as the next entry of the decision log."""
    return {"decisions": (*decisions, getattr(own, requested))}


def plan_is_late(own: Any, own_seen: Seen, plans: tuple[Any, ...], decisions: Decisions, requested: str) -> bool:
    """True if another actor has put a plan with the same requested time, or has appended to the decision log since `me`
    listed it.
    """
    return plan_is_there(own, plans, requested) or len(decisions) > own_seen.decisions


def agree(protocol: Protocol) -> None:
    """Raise ValueError for protocol options that are not modelled with a decision log."""
    decision = protocol[DecisionLog].decision
    if decision in ("log", "shared") and protocol.to_mapping()["concurrency"] == "occ":
        raise ValueError(f"protocol: decision = {decision!r} is modelled for concurrency = 'nbcc', not for 'occ'")


def _actions() -> Iterator[Action]:
    by_log = (
        "bulk_inserter", "cleaner", "compactor", "log_compactor", "overwriter", "restorer", "rollbacker", "writer"
    )  # fmt: skip
    finishes = "under the lock: puts the completed instant that another actor, perhaps dead, has decided"
    for kind in by_log:
        yield Action(f"{kind}_publishes_decided", "puts the completed instant that another actor has decided",
                     "{actor} publishes what another has decided")  # fmt: skip
        yield Action(f"{kind}_decides_instant",
                     "puts its commit under the next number of the log, if it is free",
                     "{actor} decides")  # fmt: skip
    for kind in FINISHING:
        yield Action(f"{kind}_finishes_decided", finishes, "{actor} publishes what another has decided")


MECHANISM = Mechanism(
    compose=compose,
    options=DecisionLog,
    after=("clocks", "lost_locks", "*"),
    agree=agree,
    actions=tuple(_actions()),
)
