"""The core of RFC-66 for any number of writers, logs, file groups, plans, compactors and readers.

Writers put several logs in several groups; compactors die, and other compactors run their plans; readers list twice,
and no listing is a snapshot. The relation describes the transitions of `model/kernel` and of crashes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..logic import Relation, Term, both, either, iff, implies, no
from ..system import Action, Claim, Formula, System
from .clauses import CLAUSES
from .compactors import Compactors
from .readers import Readers
from .state import (
    LOG,
    PLAN,
    PUBLISHED,
    RELATIONS,
    WRITE,
    WRITING,
    all_stored,
    any_time,
    complete,
    initially,
    published,
    settled_times,
)  # fmt: skip
from .writers import Writers


class Core(Writers, Compactors, Readers):
    """The relation for given options. Mechanisms extend it."""

    def clauses(self) -> dict[str, Formula]:
        """The invariant: one formula a clause, by its statement in words."""
        return dict(CLAUSES)

    def in_logs(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """A read as of t that starts from the base file of q includes the log: the log is visible, and in the slice of
        q or a later one.
        """
        w = s.write_of(log)
        return both(published(s, w), s.completed(w) <= t, self.slice_time(s, w) >= s.barrier(q), self.is_there(s, log))

    def is_there(self, s: Any, log: Term) -> Term:
        """No actor has deleted the log."""
        return True

    def snapshot_on(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """The read as of t, which starts from the base file of q and the logs above it, contains the log."""
        return either(s.holds(q, log), self.in_logs(s, q, log, t))

    def axis(self, s: Any, w: Term, option: str) -> Term:
        """The time of a write that a read compares with its own time."""
        return s.completed(w) if option == "completion" else s.requested(w)

    def visible(self, s: Any, log: Term, t: Term) -> Term:
        """A read as of t includes the log if it is visible."""
        w = s.write_of(log)
        if self.options.visibility == "any":
            return s.stored(log)
        return both(published(s, w), self.axis(s, w, self.options.as_of_axis) <= t, self.is_there(s, log))

    def delivered(self, s: Any, w: Term, after: Term, until: Term) -> Term:
        """The window (after, until] contains the write."""
        time = self.axis(s, w, self.options.incremental_axis)
        return both(published(s, w), after < time, time <= until)

    def common(self) -> frozenset[str]:
        """The clauses that do not rest on the mechanism's own."""
        return frozenset(CLAUSES)

    def claims(self) -> tuple[Claim, ...]:
        """The promises of the core: each mechanism keeps them."""
        common = tuple(name for name in self.clauses() if name in self.common())
        return tuple(replace(claim, by=common) for claim in self.claims_of_the_core())

    def claims_of_the_core(self) -> tuple[Claim, ...]:
        return (
            Claim("SNAP", "a read as of any time contains exactly the logs that completed by then", self.snap),
            Claim("PART", "a completed log is in a base file, or in a slice above it, never in both", self.part),
            Claim("ATOM", "a read shows all logs of a write or none, and only of completed writes", self.atom),
            Claim("TRAVEL", "a read as of a settled time never changes", step=self.travel),
            Claim("INCR", "a window of settled times never changes, and leads from one state to the next",
                  self.incr, self.incr_again),
            Claim("MONO", "times are distinct, and instants are published in the order of their completion times",
                  self.distinct, self.in_order),
            Claim("FREE", "no actor refuses a live writer that has written its logs: only the lock makes it wait",
                  self.free),
        )  # fmt: skip

    def snap(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(s.done(q), s.compacted(q) <= t, s.part(q, s.group_of(log))),
            iff(self.snapshot_on(s, q, log, t), complete(s, s.write_of(log), t))))  # fmt: skip

    def part(self, s: Any) -> Term:
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(s.part(q, s.group_of(log)), published(s, s.write_of(log))),
            iff(s.holds(q, log), self.slice_time(s, s.write_of(log)) < s.barrier(q))))  # fmt: skip

    def atom(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(LOG, LOG, lambda log, other: implies(
            both(self.visible(s, log, t), s.write_of(log) == s.write_of(other)),
            both(self.visible(s, other, t), s.stored(other), published(s, s.write_of(log)))))  # fmt: skip

    def travel(self, s: Any, n: Any) -> Term:
        return settled_times(s, lambda t: both(
            s.every(LOG, lambda log: iff(self.visible(s, log, t), self.visible(n, log, t))),
            s.every(PLAN, lambda p: iff(
                both(s.done(p), s.compacted(p) <= t), both(n.done(p), n.compacted(p) <= t)))))  # fmt: skip

    def incr(self, s: Any) -> Term:
        t = any_time(s)
        return settled_times(s, lambda until: implies(t <= until, s.every(WRITE, lambda w: iff(
            either(complete(s, w, t), self.delivered(s, w, t, until)), complete(s, w, until)))))  # fmt: skip

    def incr_again(self, s: Any, n: Any) -> Term:
        t = any_time(s)
        return settled_times(s, lambda until: s.every(WRITE, lambda w: iff(
            self.delivered(s, w, t, until), self.delivered(n, w, t, until))))  # fmt: skip

    def free(self, s: Any) -> Term:
        """No other actor refuses a writer: only the lock can make it wait."""
        names = {action.name for action in self.completing_writes()}
        steps = tuple(action for action in self.writers() if action.name in names)  # with guards that mechanisms add
        waits = no(self.lock_is_free(s))
        return s.every(WRITE, lambda w: implies(
            both(no(s.dead_writer(w)), s.phase(w) >= WRITING, s.phase(w) < PUBLISHED, all_stored(s, w)),
            either(both(waits, no(s.writer_locks(w))), *(step.guard(s, w) for step in steps))))  # fmt: skip

    def distinct(self, s: Any) -> Term:
        names = ("completion times of instants are distinct", "requested times are distinct",
                 "no requested time is a completion time")  # fmt: skip
        return both(*(self.clauses()[name](s) for name in names))

    def in_order(self, s: Any, n: Any) -> Term:
        """An instant that is published now has a greater time than every instant published before."""

        def new_write(w: Term) -> Term:
            return both(published(n, w), no(published(s, w)))

        def new_plan(p: Term) -> Term:
            return both(n.done(p), no(s.done(p)))

        return both(
            s.every(WRITE, WRITE, lambda w, v: implies(
                both(new_write(w), published(s, v)), s.completed(v) < n.completed(w))),
            s.every(WRITE, PLAN, lambda w, p: implies(
                both(new_write(w), s.done(p)), s.compacted(p) < n.completed(w))),
            s.every(PLAN, WRITE, lambda p, w: implies(
                both(new_plan(p), published(s, w)), s.completed(w) < n.compacted(p))),
            s.every(PLAN, PLAN, lambda p, q: implies(both(new_plan(p), s.done(q)), s.compacted(q) < n.compacted(p))),
        )  # fmt: skip

    def actions(self) -> tuple[Action, ...]:
        return (*self.writers(), *self.compactors(), *self.readers())

    def relations(self) -> tuple[Relation, ...]:
        return RELATIONS

    def initially(self, s: Any) -> Term:
        """No actor has done anything."""
        return initially(s)

    def background(self) -> dict[str, Formula]:
        """Facts about the fixed relations."""
        return {}

    def hints(self) -> dict[str, tuple[str, ...]]:
        """Clauses that the proof of a clause needs, tried first."""
        return {}

    def system(self) -> System:
        return System(
            self.relations(), self.initially, self.actions(), self.clauses(), self.claims(), self.background(),
            self.hints(), self.common(),
        )  # fmt: skip
