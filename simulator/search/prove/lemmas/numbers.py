"""Invariant clauses about the entry numbers that actors choose for the decision log, and about the times that they
claim.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, Final

from ..logic import Relation, Sort, Term, Update, at, both, choose, either, implies, no
from ..system import Formula
from .state import (
    COMPACTOR,
    COMPLETING,
    DIED,
    IDLE,
    LOCKED,
    LOST,
    PLAN,
    PUBLISHED,
    READER,
    READY,
    TIMED,
    WRITE,
    published,
)  # fmt: skip

DECIDED: Final = 5
"""The work of a compactor whose commit is decided, and that has not returned."""
WAITING, REFUSED, CLAIMED = 1, 2, 3
"""An actor waits for all clocks; finds its time claimed; has claimed its requested time."""

NUMBERS: Final = (
    Relation("waits", (WRITE,), "time"),
    Relation("compactor_waits", (COMPACTOR,), "time"),
    Relation("asked", (WRITE,), "time"),  # the requested time that the writer has not put yet
    Relation("asked_barrier", (COMPACTOR,), "time"),
    Relation("late", (WRITE,)),  # a number was taken since the writer counted them
    Relation("late_compactor", (COMPACTOR,)),
    Relation("decided", (WRITE,)),
    Relation("decided_plan", (PLAN,)),
    Relation("returned", (WRITE,)),  # the writer has returned
)
KEPT_CLAUSES: Final = (
    "a write past its data phase has all its logs",
    "completion times of instants are distinct",
    "requested times are distinct",
    "no requested time is a completion time",
    "only a plan that exists has parts",
    "`newest` has the greatest barrier of the plans of a group",
    "at most one plan of a group is pending",
    "a base file holds exactly the logs that completed before its barrier",
    "a reader's time is 0, or that of a published instant",
    "a listing contains only published instants",
    "the second listing contains everything up to the reader's time",
    "a reader keeps what completed up to its time",
)
"""The clauses of the core that name neither the lock nor the clock."""


def is_caught_up(s: Any) -> Term:
    """True if every write and compaction in the decision log is published."""
    return both(
        s.every(WRITE, lambda w: implies(s.decided(w), published(s, w))),
        s.every(PLAN, lambda p: implies(s.decided_plan(p), s.done(p))),
    )


def passes(s: Any, t: Term) -> dict[str, Update]:
    """Return the state update that advances the clock to at least t."""
    return {"clock": lambda: choose(s.clock() > t, s.clock(), t)}


def counts(s: Any, w: Term) -> Term:
    """True if the writer has chosen its entry number, but has not yet put its entry into the decision log."""
    return either(
        both(s.phase(w) == LOCKED, s.waits(w) > 0), both(s.phase(w) == READY, no(s.decided(w))),
    )  # fmt: skip


def counts_too(s: Any, c: Term) -> Term:
    """True if the compactor has chosen the number of its decision log entry, but has not put the entry yet."""
    return either(s.compactor_waits(c) > 0, s.work(c) == TIMED)


def number_is_taken(s: Any) -> dict[str, Update]:
    """Return the state updates for putting the next entry of the decision log. Actors that chose the same entry number
    are marked as late, so that they choose again.
    """
    return {
        "late": lambda w: either(s.late(w), counts(s, w)),
        "late_compactor": lambda c: either(s.late_compactor(c), counts_too(s, c)),
    }


def released_plan(s: Any, c: Term) -> dict[str, Update]:
    return {
        "compactor_locks": at(s.compactor_locks, c, to=False), "compactor_waits": at(s.compactor_waits, c, to=0),
        "asked_barrier": at(s.asked_barrier, c, to=0),
    }  # fmt: skip


def latest(s: Any, t: Term, other_write: Term = None, other_plan: Term = None) -> Term:
    """True if every plan was requested before time t, and every write or compaction in the decision log is published
    and completed before t. The condition on the decision log does not apply to `other_write` and `other_plan`.
    """
    return both(
        s.every(WRITE, lambda w: implies(
            s.decided(w) if other_write is None else both(s.decided(w), w != other_write),
            both(published(s, w), s.completed(w) < t))),
        s.every(PLAN, lambda p: both(implies(s.planned(p), s.barrier(p) < t), implies(
            s.decided_plan(p) if other_plan is None else both(s.decided_plan(p), p != other_plan),
            both(s.done(p), s.compacted(p) < t)))),
    )  # fmt: skip


CLAIMED_TIMES: Final[tuple[tuple[Sort, Any, Any], ...]] = (
    (WRITE, lambda s, w: s.phase(w) > IDLE, lambda s, w: s.requested(w)),
    (WRITE, lambda s, w: both(s.phase(w) == IDLE, s.waits(w) == CLAIMED), lambda s, w: s.asked(w)),
    (WRITE, lambda s, w: s.phase(w) >= READY, lambda s, w: s.completed(w)),
    (PLAN, lambda s, p: s.planned(p), lambda s, p: s.barrier(p)),
    (PLAN, lambda s, p: s.decided_plan(p), lambda s, p: s.compacted(p)),
    (COMPACTOR, lambda s, c: s.compactor_waits(c) == CLAIMED, lambda s, c: s.asked_barrier(c)),
    (COMPACTOR, lambda s, c: s.work(c) == TIMED, lambda s, c: s.completing(c)),
)
"""Every kind of claimed time: its sort, whether an element has one, and the time."""


def claimed_times_differ(s: Any) -> Term:
    pairs = []
    for (place, one), (other_place, other) in combinations_with_replacement(enumerate(CLAIMED_TIMES), 2):
        same_kind = place == other_place
        pairs.append(s.every(one[0], other[0], lambda x, y, one=one, other=other, same_kind=same_kind: implies(
            both(one[1](s, x), other[1](s, y), one[2](s, x) == other[2](s, y)), x == y if same_kind else False)))
    return both(*pairs)


OF_THE_LOG: Final[dict[str, Formula]] = {
    "phases, works and readings are in range": lambda s: both(
        s.every(WRITE, lambda w: both(s.phase(w) >= IDLE, s.phase(w) <= PUBLISHED)),
        s.every(COMPACTOR, lambda c: both(s.work(c) >= IDLE, s.work(c) <= DECIDED)),
        s.every(READER, lambda d: both(s.reading(d) >= DIED, s.reading(d) <= LOST)),
        s.clock() >= 0,
    ),
    "a writer with the lock has not returned": lambda s: s.every(WRITE, lambda w: implies(
        s.writer_locks(w), either(both(s.phase(w) == IDLE, s.waits(w) > 0), s.phase(w) >= LOCKED))),
    "claimed times are never ahead of the clock": lambda s: both(
        *(s.every(sort, lambda x, has=has, time=time: implies(has(s, x), both(time(s, x) > 0, time(s, x) <= s.clock())))
          for sort, has, time in CLAIMED_TIMES),
        s.every(WRITE, lambda w: both(
            implies(both(s.phase(w) == IDLE, s.waits(w) == WAITING), both(s.asked(w) > 0, s.asked(w) <= s.clock() + 1)),
            implies(both(s.phase(w) == LOCKED, s.waits(w) == WAITING), both(
                s.completed(w) > s.requested(w), s.completed(w) <= s.clock() + 1)),
            implies(s.phase(w) >= READY, s.completed(w) > s.requested(w)))),
        s.every(COMPACTOR, lambda c: both(
            implies(both(s.work(c) == IDLE, s.compactor_waits(c) == WAITING), both(
                s.asked_barrier(c) > 0, s.asked_barrier(c) <= s.clock() + 1)),
            implies(both(s.work(c) == COMPLETING, s.compactor_waits(c) == WAITING), both(
                s.completing(c) > s.barrier(s.own_plan(c)), s.completing(c) <= s.clock() + 1)),
            implies(s.work(c) == TIMED, s.completing(c) > s.barrier(s.own_plan(c))))),
        s.every(PLAN, lambda p: implies(s.decided_plan(p), s.barrier(p) < s.compacted(p))),
    ),
    "claimed times are distinct": claimed_times_differ,
    "actors wait where they take a time": lambda s: both(
        s.every(WRITE, lambda w: both(
            s.waits(w) >= 0, s.waits(w) <= CLAIMED,
            implies(s.waits(w) > 0, either(s.phase(w) == IDLE, both(s.phase(w) == LOCKED, s.waits(w) < CLAIMED))),
            implies(s.late(w), counts(s, w)))),
        s.every(COMPACTOR, lambda c: both(
            s.compactor_waits(c) >= 0, s.compactor_waits(c) <= CLAIMED,
            implies(s.compactor_waits(c) > 0, either(
                s.work(c) == IDLE, both(s.work(c) == COMPLETING, s.compactor_waits(c) < CLAIMED))),
            implies(s.late_compactor(c), counts_too(s, c)))),
    ),
    "a compactor works on a plan that exists, and decides it once": lambda s: s.every(COMPACTOR, lambda c: both(
        implies(s.work(c) > IDLE, s.planned(s.own_plan(c))),
        implies(s.work(c) == DECIDED, both(
            s.decided_plan(s.own_plan(c)), s.compacted(s.own_plan(c)) == s.completing(c))),
        implies(both(s.work(c) >= COMPLETING, s.work(c) < DECIDED, counts_too(s, c), no(s.late_compactor(c))),
                no(s.decided_plan(s.own_plan(c)))))),
    "what is published was decided, and what returned is published": lambda s: both(
        s.every(WRITE, lambda w: both(
            implies(published(s, w), s.decided(w)), implies(s.decided(w), s.phase(w) >= READY),
            implies(s.returned(w), published(s, w)))),
        s.every(PLAN, lambda p: both(implies(s.done(p), s.decided_plan(p)), implies(s.decided_plan(p), s.planned(p)))),
    ),
    "an actor that is not late has a later time than every decision, and all are published": lambda s: both(
        s.every(WRITE, lambda w: implies(both(counts(s, w), no(s.late(w))), both(
            is_caught_up(s), implies(s.waits(w) != REFUSED, latest(s, s.completed(w)))))),
        s.every(COMPACTOR, lambda c: implies(both(counts_too(s, c), no(s.late_compactor(c))), both(
            is_caught_up(s), implies(s.compactor_waits(c) != REFUSED, latest(
                s, choose(s.work(c) == IDLE, s.asked_barrier(c), s.completing(c))))))),
    ),
    "only the latest decision may be unpublished": lambda s: both(
        s.every(WRITE, lambda w: implies(both(s.decided(w), no(published(s, w))), latest(
            s, s.completed(w), other_write=w))),
        s.every(PLAN, lambda p: implies(both(s.decided_plan(p), no(s.done(p))), latest(
            s, s.compacted(p), other_plan=p))),
    ),
}  # fmt: skip
