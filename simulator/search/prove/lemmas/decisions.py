"""The decision log: numbered entries decide which instants are committed, even if an actor loses its lock.

Actors claim every timestamp by put-if-absent before they use it. An actor remembers the number of the newest log entry
that it has read, and commits by creating the entry with the next number. Before an actor chooses its completion time,
it publishes the instants of all existing log entries. There is no crash action: a crashed actor simply takes no more
steps, and its lock becomes free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model.mechanisms.lost_locks import LOCK_IS_LOST

from ..logic import Relation, Term, Update, at, both, choose, either, implies, no
from ..system import Claim, Formula, Move
from .decided_plans import PUBLISHES_DECIDED, DecidedPlanOptions, DecidedPlans
from .numbers import (
    CLAIMED,
    KEPT_CLAUSES,
    NUMBERS,
    OF_THE_LOG,
    WAITING,
    counts,
    is_caught_up,
    number_is_taken,
    passes,
)
from .state import (
    COMPACTOR,
    IDLE,
    LOCKED,
    LOG,
    PLAN,
    PUBLISHED,
    READY,
    REQUESTED,
    WRITE,
    all_stored,
    any_time,
    published,
)  # fmt: skip


class Decisions(DecidedPlans):
    """The core transition relation, extended by a decision log that decides commits."""

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
        """True if a read as of t merges the log with the base file of plan q.

        With `tombstone_logs = by_time`, the read ignores a log whose requested time equals the barrier of plan q.
        """
        read = super().in_logs(s, q, log, t)
        by_time = self.options.tombstone_logs == "by_time"
        return both(read, s.requested(s.write_of(log)) != s.barrier(q)) if by_time else read

    def writers(self) -> tuple[Move, ...]:
        core_actions = {action.name: action for action in super().writers()}
        same = ("writer starts writing", "writer writes log", "writer takes lock")
        return (*self.requesting(), *(core_actions[name] for name in same), *self.deciding())

    def can_write(self, s: Any, w: Term, phase: int) -> Term:
        return both(super().can_write(s, w, phase), s.waits(w) == 0)

    def readers(self) -> tuple[Move, ...]:
        """Return the actions of readers, which do not crash here."""
        return tuple(action for action in super().readers() if action.name != "reader crashes")

    def requesting(self) -> tuple[Move, ...]:
        """Return the actions by which a writer obtains a requested time and stores its requested instant."""
        takes = Move(
            "writer takes time", (WRITE,),
            lambda s, w: both(
                self.can_write(s, w, IDLE), self.lock_is_free(s),
                s.every(WRITE, lambda v: implies(s.earlier(v, w), self.is_over(s, v))),
            ),
            lambda s, w: {
                "writer_locks": at(s.writer_locks, w, to=True), "asked": at(s.asked, w, to=s.clock() + 1),
                "waits": at(s.waits, w, to=WAITING),
            },
        )  # fmt: skip
        claims = Move(
            "writer claims its requested time", (WRITE,),
            lambda s, w: both(s.phase(w) == IDLE, s.waits(w) == WAITING, self.claim(s, s.asked(w))),
            lambda s, w: {**passes(s, s.asked(w)), "waits": at(s.waits, w, to=CLAIMED)}, ("writer_waits",),
        )  # fmt: skip
        puts = Move(
            "writer puts request", (WRITE,),
            lambda s, w: both(s.phase(w) == IDLE, s.waits(w) == CLAIMED, s.every(WRITE, lambda v: implies(
                s.phase(v) > IDLE, s.requested(v) != s.asked(w)))),
            lambda s, w: {
                "requested": at(s.requested, w, to=s.asked(w)), "asked": at(s.asked, w, to=0),
                "waits": at(s.waits, w, to=0), "phase": at(s.phase, w, to=REQUESTED),
                "writer_locks": at(s.writer_locks, w, to=False),
            },
        )  # fmt: skip
        return (takes, claims, puts, *self.refused("writer", WRITE, "waits", self.times_of_write))

    def times_of_write(self, s: Any, w: Term, to: Term) -> Mapping[str, Update]:
        """Return the state updates that set the time that a writer is about to claim: its requested or its completion
        time.
        """
        asks = s.phase(w) == IDLE
        return {
            "asked": at(s.asked, w, to=choose(asks, to, s.asked(w))),
            "completed": at(s.completed, w, to=choose(asks, s.completed(w), to)),
        }

    def deciding(self) -> tuple[Move, ...]:
        """Return the actions with which a writer obtains and claims a completion time, puts its decision log entry, and
        publishes.
        """
        return (
            Move(
                "writer takes completion time", (WRITE,),
                lambda s, w: both(self.can_write(s, w, LOCKED), all_stored(s, w), is_caught_up(s)),
                lambda s, w: {
                    "completed": at(s.completed, w, to=s.clock() + 1), "waits": at(s.waits, w, to=WAITING)
                },
            ),
            Move(
                "writer claims its completion time", (WRITE,),
                lambda s, w: both(s.phase(w) == LOCKED, s.waits(w) == WAITING, self.claim(s, s.completed(w))),
                lambda s, w: {
                    **passes(s, s.completed(w)), "waits": at(s.waits, w, to=0), "phase": at(s.phase, w, to=READY)
                },
                ("writer_waits",),
            ),
            Move(
                "writer decides", (WRITE,),
                lambda s, w: both(s.phase(w) == READY, no(s.decided(w)), no(s.late(w))),
                lambda s, w: {**number_is_taken(s), "decided": at(s.decided, w, to=True),
                              "late": lambda v: both(v != w, either(s.late(v), counts(s, v)))},
                ("writer_decides_instant",),
            ),
            Move(
                "writer finds the number taken", (WRITE,),
                lambda s, w: both(s.phase(w) == READY, no(s.decided(w)), s.late(w)),
                lambda s, w: {
                    "late": at(s.late, w, to=False), "completed": at(s.completed, w, to=0),
                    "phase": at(s.phase, w, to=LOCKED),
                },
                ("writer_decides_instant",),
            ),
            Move(
                "writer publishes instant", (WRITE,), lambda s, w: both(s.decided(w), no(s.returned(w))),
                lambda s, w: {
                    "phase": at(s.phase, w, to=PUBLISHED), "returned": at(s.returned, w, to=True),
                    "writer_locks": at(s.writer_locks, w, to=False),
                },
            ),
            Move(
                "another actor publishes a decided write", (WRITE,),
                lambda s, w: both(s.decided(w), no(published(s, w))),
                lambda s, w: {"phase": at(s.phase, w, to=PUBLISHED)}, PUBLISHES_DECIDED,
            ),
            Move(
                "lock of a writer is lost", (WRITE,), lambda s, w: s.writer_locks(w),
                lambda s, w: {"writer_locks": at(s.writer_locks, w, to=False)}, (LOCK_IS_LOST,),
            ),
        )  # fmt: skip

    def on_the_way(self) -> frozenset[str]:
        refused = self.refused("writer", WRITE, "waits", self.times_of_write)
        mine = (*self.deciding(), *refused)
        return frozenset({"writer takes lock"} | {each.name for each in mine if "lost" not in each.name})

    def helps(self, s: Any, w: Term) -> Term:
        """True if the writer may publish an instant that another actor has committed but not published."""
        return both(self.can_write(s, w, LOCKED), no(is_caught_up(s)))

    def clauses(self) -> dict[str, Formula]:
        kept = super().clauses()
        return {name: kept[name] for name in KEPT_CLAUSES} | OF_THE_LOG

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


__all__ = ["DecidedPlanOptions", "Decisions"]
