"""The decision log: commits are decided by put-if-absent of dense numbers, and any lock may be lost.

An actor that takes a time claims it. It notes how many numbers are taken, and decides only if the next one is free.
Before it takes its time, it publishes what is decided. The relation has no deaths: an actor that stops for good has
died, and a lost lock is free again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Final, Literal

from ..logic import Relation, Sort, Term, Update, at, both, choose, either, implies, no
from ..system import Action, Claim, Formula
from . import core, options
from .clauses import CLAUSES
from .state import (
    ANSWERED,
    COMPACTOR,
    COMPLETING,
    IDLE,
    LOCKED,
    LOG,
    PLAN,
    PUBLISHED,
    READER,
    READY,
    REQUESTED,
    TIMED,
    WRITE,
    all_bases_written,
    all_stored,
    any_time,
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
"""The clauses of the core that do not name the lock."""


@dataclass(frozen=True)
class Options(options.Options):
    """Options of the model, by its names and values, on which decisions depend."""

    completion_time: Literal["under_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier"] = "completed_before_barrier"
    decision: Literal["log"] = "log"
    claims: Literal["every_time", "none"] = "every_time"
    tombstone_logs: Literal["by_commit", "by_time"] = "by_commit"


class Decisions(core.Core):
    """The core, with a log that decides."""

    options: Options

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *NUMBERS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s),
            s.every(WRITE, lambda w: both(
                s.waits(w) == 0, no(s.late(w)), no(s.decided(w)), no(s.returned(w)))),
            s.every(COMPACTOR, lambda c: both(s.compactor_waits(c) == 0, no(s.late_compactor(c)))),
            s.every(PLAN, lambda p: no(s.decided_plan(p))),
        )  # fmt: skip

    def is_over(self, s: Any, w: Term) -> Term:
        return s.returned(w)

    def in_logs(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """By time, a log that was requested at the time of the base file is taken for the base file's own deletes."""
        read = super().in_logs(s, q, log, t)
        by_time = self.options.tombstone_logs == "by_time"
        return both(read, s.requested(s.write_of(log)) != s.barrier(q)) if by_time else read

    def claim(self, s: Any, t: Term) -> Term:
        """The time is claimed now. Every time up to the clock was claimed before."""
        return t > s.clock() if self.options.claims == "every_time" else t >= 0

    def writers(self) -> tuple[Action, ...]:
        core_actions = {action.name: action for action in super().writers()}
        same = ("writer starts writing", "writer writes log", "writer takes lock")
        return (*self.requesting(), *(core_actions[name] for name in same), *self.deciding())

    def can_write(self, s: Any, w: Term, phase: int) -> Term:
        return both(super().can_write(s, w, phase), s.waits(w) == 0)

    def requesting(self) -> tuple[Action, ...]:
        """Read the clock, claim the time, and put the request."""
        takes = Action(
            "writer takes time", (WRITE,),
            lambda s, w: both(
                self.can_write(s, w, IDLE), self.lock_is_free(s),
                s.every(WRITE, lambda v: implies(s.earlier(v, w), self.is_over(s, v))),
            ),
            lambda s, w: {
                "writer_locks": at(s.writer_locks, w, to=True), "asked": at(s.asked, w, to=s.clock() + 1),
                "waits": at(s.waits, w, to=WAITING),
            },
            ("writer_takes_time",),
        )  # fmt: skip
        claims = Action(
            "writer claims its requested time", (WRITE,),
            lambda s, w: both(s.phase(w) == IDLE, s.waits(w) == WAITING, self.claim(s, s.asked(w))),
            lambda s, w: {**passes(s, s.asked(w)), "waits": at(s.waits, w, to=CLAIMED)}, ("writer_waits",),
        )  # fmt: skip
        puts = Action(
            "writer puts request", (WRITE,),
            lambda s, w: both(s.phase(w) == IDLE, s.waits(w) == CLAIMED, s.every(WRITE, lambda v: implies(
                s.phase(v) > IDLE, s.requested(v) != s.asked(w)))),
            lambda s, w: {
                "requested": at(s.requested, w, to=s.asked(w)), "asked": at(s.asked, w, to=0),
                "waits": at(s.waits, w, to=0), "phase": at(s.phase, w, to=REQUESTED),
                "writer_locks": at(s.writer_locks, w, to=False),
            },
            ("writer_puts_request",),
        )  # fmt: skip
        return (takes, claims, puts, *self.refused("writer", WRITE, "waits", self.times_of_write))

    def times_of_write(self, s: Any, w: Term, to: Term) -> Mapping[str, Update]:
        """The time for which the writer waits."""
        asks = s.phase(w) == IDLE
        return {
            "asked": at(s.asked, w, to=choose(asks, to, s.asked(w))),
            "completed": at(s.completed, w, to=choose(asks, s.completed(w), to)),
        }

    def times_of_compactor(self, s: Any, c: Term, to: Term) -> Mapping[str, Update]:
        asks = s.work(c) == IDLE
        return {
            "asked_barrier": at(s.asked_barrier, c, to=choose(asks, to, s.asked_barrier(c))),
            "completing": at(s.completing, c, to=choose(asks, s.completing(c), to)),
        }

    def refused(self, kind: str, sort: Sort, waits: str, times: Any) -> tuple[Action, ...]:
        """The time is claimed: read the clock again."""

        def waited(s: Any, x: Term) -> Term:
            return (
                choose(s.phase(x) == IDLE, s.asked(x), s.completed(x)) if sort == WRITE
                else choose(s.work(x) == IDLE, s.asked_barrier(x), s.completing(x))
            )  # fmt: skip

        def step(s: Any, x: Term, to: int) -> dict[str, Update]:
            return {waits: at(getattr(s, waits), x, to=to)}

        return (
            Action(
                f"{kind} finds its time claimed", (sort,),
                lambda s, x: both(getattr(s, waits)(x) == WAITING, no(self.claim(s, waited(s, x)))),
                lambda s, x: step(s, x, REFUSED), (f"{kind}_waits",),
            ),
            Action(
                f"{kind} reads clock again", (sort,), lambda s, x: getattr(s, waits)(x) == REFUSED,
                lambda s, x: {**step(s, x, WAITING), **times(s, x, s.clock() + 1)}, (f"{kind}_reads_clock_again",),
            ),
        )  # fmt: skip

    def deciding(self) -> tuple[Action, ...]:
        """Take and claim a completion time, put the next number, publish."""
        return (
            Action(
                "writer takes completion time", (WRITE,),
                lambda s, w: both(self.can_write(s, w, LOCKED), all_stored(s, w), is_caught_up(s)),
                lambda s, w: {
                    "completed": at(s.completed, w, to=s.clock() + 1), "waits": at(s.waits, w, to=WAITING)
                },
                ("writer_takes_completion_time",),
            ),
            Action(
                "writer claims its completion time", (WRITE,),
                lambda s, w: both(s.phase(w) == LOCKED, s.waits(w) == WAITING, self.claim(s, s.completed(w))),
                lambda s, w: {
                    **passes(s, s.completed(w)), "waits": at(s.waits, w, to=0), "phase": at(s.phase, w, to=READY)
                },
                ("writer_waits",),
            ),
            Action(
                "writer decides", (WRITE,),
                lambda s, w: both(s.phase(w) == READY, no(s.decided(w)), no(s.late(w))),
                lambda s, w: {**number_is_taken(s), "decided": at(s.decided, w, to=True),
                              "late": lambda v: both(v != w, either(s.late(v), counts(s, v)))},
                ("writer_decides_instant",),
            ),
            Action(
                "writer finds the number taken", (WRITE,),
                lambda s, w: both(s.phase(w) == READY, no(s.decided(w)), s.late(w)),
                lambda s, w: {
                    "late": at(s.late, w, to=False), "completed": at(s.completed, w, to=0),
                    "phase": at(s.phase, w, to=LOCKED),
                },
                ("writer_decides_instant",),
            ),
            Action(
                "writer publishes instant", (WRITE,), lambda s, w: both(s.decided(w), no(s.returned(w))),
                lambda s, w: {
                    "phase": at(s.phase, w, to=PUBLISHED), "returned": at(s.returned, w, to=True),
                    "writer_locks": at(s.writer_locks, w, to=False),
                },
                ("writer_publishes_instant",),
            ),
            Action(
                "another actor publishes a decided write", (WRITE,),
                lambda s, w: both(s.decided(w), no(published(s, w))),
                lambda s, w: {"phase": at(s.phase, w, to=PUBLISHED)}, PUBLISHES_DECIDED,
            ),
            Action(
                "lock of a writer is lost", (WRITE,), lambda s, w: s.writer_locks(w),
                lambda s, w: {"writer_locks": at(s.writer_locks, w, to=False)}, ("lock_is_lost",),
            ),
        )  # fmt: skip

    def compactors(self) -> tuple[Action, ...]:
        core_actions = {action.name: action for action in super().compactors()}
        same = ("compactor starts plan", "compactor writes base")
        lock = core_actions["compactor takes lock"].extend(lambda s, c: s.compactor_waits(c) == 0)
        resumes = core_actions["compactor resumes plan"].extend(lambda s, c, p: s.compactor_waits(c) == 0)
        refused = self.refused("compactor", COMPACTOR, "compactor_waits", self.times_of_compactor)
        return (*self.planning(), *(core_actions[name] for name in same), lock, resumes, *refused,
                *self.deciding_plans())  # fmt: skip

    def takes(self, s: Any, log: Term) -> Term:
        """A plan takes every published log of the newest slice: no later number is taken."""
        w, g = s.write_of(log), s.group_of(log)
        has_base = s.part(s.newest(g), g)
        return both(published(s, w), implies(has_base, self.slice_time(s, w) >= s.barrier(s.newest(g))))

    def planning(self) -> tuple[Action, ...]:
        takes = Action(
            "compactor takes barrier", (COMPACTOR, PLAN),
            lambda s, c, p: both(self.may_schedule(s, c, p), s.compactor_waits(c) == 0, is_caught_up(s)),
            lambda s, c, p: {
                "compactor_locks": at(s.compactor_locks, c, to=True),
                "asked_barrier": at(s.asked_barrier, c, to=s.clock() + 1),
                "compactor_waits": at(s.compactor_waits, c, to=WAITING),
            },
            ("compactor_takes_barrier",),
        )  # fmt: skip
        claims = Action(
            "compactor claims its barrier", (COMPACTOR,),
            lambda s, c: both(
                s.work(c) == IDLE, s.compactor_waits(c) == WAITING, self.claim(s, s.asked_barrier(c))
            ),
            lambda s, c: {
                **passes(s, s.asked_barrier(c)), "compactor_waits": at(s.compactor_waits, c, to=CLAIMED)
            },
            ("compactor_waits",),
        )  # fmt: skip
        puts = Action(
            "compactor puts plan", (COMPACTOR, PLAN),
            lambda s, c, p: both(
                s.compactor_waits(c) == CLAIMED, no(s.late_compactor(c)), no(s.planned(p)),
                s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.planned(q))),
                s.every(PLAN, lambda q: implies(s.planned(q), s.barrier(q) != s.asked_barrier(c))),
            ),
            lambda s, c, p: {
                **self.schedule(s, c, p), "clock": s.clock, "barrier": at(s.barrier, p, to=s.asked_barrier(c)),
                **released_plan(s, c), **number_is_taken(s),
                "late_compactor": lambda b: both(b != c, either(s.late_compactor(b), counts_too(s, b))),
            },
            ("compactor_puts_plan",),
        )  # fmt: skip
        gives_up = Action(
            "compactor gives its plan up", (COMPACTOR,),
            lambda s, c: both(s.compactor_waits(c) == CLAIMED, either(s.late_compactor(c), s.some(
                PLAN, lambda q: both(s.planned(q), s.barrier(q) == s.asked_barrier(c))))),
            lambda s, c: {**released_plan(s, c), "late_compactor": at(s.late_compactor, c, to=False)},
            ("compactor_puts_plan",),
        )  # fmt: skip
        return (takes, claims, puts, gives_up)

    def deciding_plans(self) -> tuple[Action, ...]:
        return (
            Action(
                "compactor takes completion time", (COMPACTOR,),
                lambda s, c: both(s.work(c) == COMPLETING, s.compactor_waits(c) == 0, all_bases_written(s, c),
                                  is_caught_up(s), no(s.done(s.own_plan(c)))),
                lambda s, c: {
                    "completing": at(s.completing, c, to=s.clock() + 1),
                    "compactor_waits": at(s.compactor_waits, c, to=WAITING),
                },
                ("compactor_takes_completion_time",),
            ),
            Action(
                "compactor claims its completion time", (COMPACTOR,),
                lambda s, c: both(
                    s.work(c) == COMPLETING, s.compactor_waits(c) == WAITING, self.claim(s, s.completing(c))
                ),
                lambda s, c: {
                    **passes(s, s.completing(c)), "compactor_waits": at(s.compactor_waits, c, to=0),
                    "work": at(s.work, c, to=TIMED),
                },
                ("compactor_waits",),
            ),
            Action(
                "compactor decides", (COMPACTOR,), lambda s, c: both(s.work(c) == TIMED, no(s.late_compactor(c))),
                lambda s, c: {
                    **number_is_taken(s), "work": at(s.work, c, to=DECIDED),
                    "decided_plan": at(s.decided_plan, s.own_plan(c), to=True),
                    "compacted": at(s.compacted, s.own_plan(c), to=s.completing(c)),
                    "late_compactor": lambda b: both(b != c, either(s.late_compactor(b), counts_too(s, b))),
                },
                ("compactor_decides_instant",),
            ),
            Action(
                "compactor finds the number taken", (COMPACTOR,),
                lambda s, c: both(s.work(c) == TIMED, s.late_compactor(c)),
                lambda s, c: {
                    "late_compactor": at(s.late_compactor, c, to=False), "work": at(s.work, c, to=COMPLETING),
                    "completing": at(s.completing, c, to=0),
                },
                ("compactor_decides_instant",),
            ),
            Action(
                "compactor publishes instant", (COMPACTOR,), lambda s, c: s.work(c) == DECIDED,
                lambda s, c: {
                    "done": at(s.done, s.own_plan(c), to=True), "work": at(s.work, c, to=IDLE),
                    "compactor_locks": at(s.compactor_locks, c, to=False),
                },
                ("compactor_publishes_instant",),
            ),
            Action(
                "another actor publishes a decided compaction", (PLAN,),
                lambda s, p: both(s.decided_plan(p), no(s.done(p))),
                lambda s, p: {"done": at(s.done, p, to=True)}, PUBLISHES_DECIDED,
            ),
            Action(
                "lock of a compactor is lost", (COMPACTOR,), lambda s, c: s.compactor_locks(c),
                lambda s, c: {"compactor_locks": at(s.compactor_locks, c, to=False)}, ("lock_is_lost",),
            ),
        )  # fmt: skip

    def on_the_way(self) -> frozenset[str]:
        refused = self.refused("writer", WRITE, "waits", self.times_of_write)
        mine = (*self.deciding(), *refused)
        return frozenset({"writer takes lock"} | {each.name for each in mine if "lost" not in each.name})

    def helps(self, s: Any, w: Term) -> Term:
        """The writer publishes what another actor has decided."""
        return both(self.can_write(s, w, LOCKED), no(is_caught_up(s)))

    def clauses(self) -> dict[str, Formula]:
        return {name: CLAUSES[name] for name in KEPT_CLAUSES} | OF_THE_LOG

    def common(self) -> frozenset[str]:
        return frozenset(self.clauses())

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("ACK", "a write that returned is published, and every later read contains it", self.acknowledged),
        )

    def acknowledged(self, s: Any) -> Term:
        t = any_time(s)
        return both(
            s.every(WRITE, lambda w: implies(s.returned(w), published(s, w))),
            s.every(PLAN, LOG, lambda q, log: implies(
                both(s.done(q), s.compacted(q) <= t, s.part(q, s.group_of(log)), s.returned(s.write_of(log)),
                     s.completed(s.write_of(log)) <= t),
                self.snapshot_on(s, q, log, t))),
        )  # fmt: skip


PUBLISHES_DECIDED: Final = ("writer_publishes_decided", "compactor_publishes_decided", "compactor_finishes_decided")


def is_caught_up(s: Any) -> Term:
    """Everything decided is published."""
    return both(
        s.every(WRITE, lambda w: implies(s.decided(w), published(s, w))),
        s.every(PLAN, lambda p: implies(s.decided_plan(p), s.done(p))),
    )


def passes(s: Any, t: Term) -> dict[str, Update]:
    """Every clock has passed the time."""
    return {"clock": lambda: choose(s.clock() > t, s.clock(), t)}


def counts(s: Any, w: Term) -> Term:
    """The writer has counted the numbers, and has not put one yet."""
    return either(
        both(s.phase(w) == LOCKED, s.waits(w) > 0), both(s.phase(w) == READY, no(s.decided(w))),
    )  # fmt: skip


def counts_too(s: Any, c: Term) -> Term:
    """The compactor has counted the numbers, for a plan or a completion, and has not put one yet."""
    return either(s.compactor_waits(c) > 0, s.work(c) == TIMED)


def number_is_taken(s: Any) -> dict[str, Update]:
    """Every actor that has counted the numbers is late."""
    return {
        "late": lambda w: either(s.late(w), counts(s, w)),
        "late_compactor": lambda c: either(s.late_compactor(c), counts_too(s, c)),
    }


def released_plan(s: Any, c: Term) -> dict[str, Update]:
    return {
        "compactor_locks": at(s.compactor_locks, c, to=False), "compactor_waits": at(s.compactor_waits, c, to=0),
        "asked_barrier": at(s.asked_barrier, c, to=0),
    }  # fmt: skip


def later_than_decisions(s: Any, t: Term) -> Term:
    """The time is later than every decision, and every decision is published."""
    return both(
        s.every(WRITE, lambda w: implies(s.decided(w), both(published(s, w), s.completed(w) < t))),
        s.every(PLAN, lambda p: both(
            implies(s.decided_plan(p), both(s.done(p), s.compacted(p) < t)), implies(s.planned(p), s.barrier(p) < t))),
    )  # fmt: skip


def latest(s: Any, t: Term, other_write: Term = None, other_plan: Term = None) -> Term:
    """The time is later than that of every other decision, and every other decision is published."""
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
        s.every(READER, lambda d: both(s.reading(d) >= 0, s.reading(d) <= ANSWERED)),
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
