"""The core transition relation: RFC-66 for any number of writers, logs, file groups, plans, compactors and readers.

A write may put several logs, in several file groups. Compactors may crash, and other compactors resume their plans.
Readers list the timeline twice; a listing is not an atomic snapshot of the folder. The executable model of this
protocol is `model/kernel`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..logic import Relation, Term, both, either, iff, implies, no
from ..system import Claim, Formula, Move, ProvedSystem
from .clauses import CLAUSES, of_instants
from .compactors import Compactors
from .instants import published_in_order, settled_times
from .missing import MISSING
from .readers import Readers
from .state import (
    ANSWERED,
    LISTED,
    LISTING,
    LOG,
    PLAN,
    PUBLISHED,
    READER,
    RELATIONS,
    SURE,
    WRITE,
    WRITING,
    all_stored,
    any_time,
    complete,
    initially,
    published,
)  # fmt: skip
from .writers import WriterLemmas


class Core(WriterLemmas, Compactors, Readers):
    """The core transition relation under the given options. Mechanisms extend this class."""

    def clauses(self) -> dict[str, Formula]:
        """Return the inductive invariant: a dictionary from the text of each clause to its formula."""
        return {**CLAUSES, **of_instants(self.kinds, self.completing)}

    def in_logs(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """True if a read as of t merges the log with the base file of plan q. The log must have completed at or before
        t, and its slice must not be older than the slice that begins with this base file.
        """
        w = s.write_of(log)
        return both(published(s, w), s.completed(w) <= t, self.slice_time(s, w) >= s.barrier(q), self.is_there(s, log))

    def is_there(self, s: Any, log: Term) -> Term:
        """True if readers find the log: it is not deleted, and its write is on a timeline that they read."""
        return True

    def snapshot_on(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """True if a read as of t includes the log, either in the base file of plan q or as a separate log."""
        return either(s.holds(q, log), self.in_logs(s, q, log, t))

    def axis(self, s: Any, w: Term, option: str) -> Term:
        """Return the completion time or the requested time of a write, depending on `option`. A read compares this time
        with its read time.
        """
        return s.completed(w) if option == "completion" else s.requested(w)

    def visible(self, s: Any, log: Term, t: Term) -> Term:
        """True if a read as of t may include the log."""
        w = s.write_of(log)
        in_time = self.axis(s, w, self.options.as_of_axis) <= t
        if self.options.visibility == "any":
            pending = both(no(published(s, w)), s.requested(w) <= t)
            return both(s.stored(log), either(both(published(s, w), in_time), pending))
        return both(published(s, w), in_time, self.is_there(s, log), self.visits(s, log, t))

    def visits(self, s: Any, log: Term, t: Term) -> Term:
        """True if a read as of t visits the slice of the log. By requested times it visits no slice that begins later;
        by completion times such a slice has no log that completed by then.
        """
        if self.options.as_of_axis == "completion":
            return True
        time = self.slice_time(s, s.write_of(log))
        return no(s.some(PLAN, lambda q: both(
            s.done(q), s.part(q, s.group_of(log)), t < s.barrier(q), s.barrier(q) <= time)))  # fmt: skip

    def delivered(self, s: Any, w: Term, after: Term, until: Term) -> Term:
        """True if an incremental read of (after, until] contains the write."""
        time = self.axis(s, w, self.options.incremental_axis)
        return both(published(s, w), after < time, time <= until)

    def common(self) -> frozenset[str]:
        """Return the names of the clauses from which the promises of the core are proved."""
        return frozenset(Core.clauses(self))

    def claims(self) -> tuple[Claim, ...]:
        """Return the promises of the core transition relation, each proved from the clauses in `common`."""
        common = tuple(name for name in self.clauses() if name in self.common())
        return tuple(replace(claim, by=common) for claim in self.claims_of_the_core())

    def claims_of_the_core(self) -> tuple[Claim, ...]:
        return (
            Claim("SNAP", "a read as of any time contains exactly the logs that completed by then, and readers have "
                  "answered what it contains", lambda s: both(self.snap(s), self.answers_stay(s))),
            Claim("PART", "a completed log is in a base file, or in a slice above it, never in both", self.part),
            Claim("ATOM", "a read shows all logs of a write or none, and only of completed writes", self.atom),
            Claim("TRAVEL", "a read as of a settled time never changes, from any base file, and readers have answered "
                  "what it contains", lambda s: both(self.bases_agree(s), self.answers_stay(s)), self.travel),
            Claim("INCR", "a window of settled times never changes, and a read at its start and the window contain "
                  "each log of a read at its end once", self.incr, self.incr_again),
            Claim("QUIET", "a read contains the same from any base file, and no step but the publication of a write "
                  "changes what a read or a window contains", self.same_from_any_base, self.quiet),
            Claim("MONO", "times are distinct, instants are requested before they complete, and they are published in "
                  "the order of their completion times", self.distinct, self.in_order),
            Claim("ACK", "a reader that begins after a write was published reads it", self.reads_what_it_finds,
                  self.reads_late_enough),
            Claim("FREE", "no actor refuses a live writer that has written its logs: only the lock makes it wait",
                  self.free),
        )  # fmt: skip

    def readable(self, s: Any, q: Term, g: Term, t: Term) -> Term:
        """True if a read as of t may use the base file of plan q in the file group."""
        return both(s.done(q), s.compacted(q) <= t, s.part(q, g))

    def snap(self, s: Any) -> Term:
        t = any_time(s)
        return both(
            s.every(PLAN, LOG, lambda q, log: implies(
                self.readable(s, q, s.group_of(log), t),
                iff(self.snapshot_on(s, q, log, t), complete(s, s.write_of(log), t)))),
            # In a file group without a base file, a read contains the visible logs.
            s.every(LOG, lambda log: iff(self.visible(s, log, t), complete(s, s.write_of(log), t))),
        )  # fmt: skip

    def same_from_any_base(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            self.readable(s, q, s.group_of(log), t),
            iff(self.snapshot_on(s, q, log, t), self.visible(s, log, t))))  # fmt: skip

    def bases_agree(self, s: Any) -> Term:
        """True if reads as of one time from different base files contain the same: the half of TRAVEL about states."""
        return self.same_from_any_base(s)

    def quiet(self, s: Any, n: Any) -> Term:
        """True if the step publishes a write, or changes neither the logs of a read as of any time nor a window."""
        t = any_time(s)
        publishes = s.some(WRITE, lambda w: both(published(n, w), no(published(s, w))))
        return either(publishes, both(
            s.every(LOG, lambda log: iff(self.visible(s, log, t), self.visible(n, log, t))),
            settled_times(s, self.kinds, lambda until: s.every(WRITE, lambda w: iff(
                self.delivered(s, w, t, until), self.delivered(n, w, t, until)))),
        ))  # fmt: skip

    def part(self, s: Any) -> Term:
        return both(
            self.all_there(s),
            s.every(PLAN, LOG, lambda q, log: implies(
                both(s.part(q, s.group_of(log)), published(s, s.write_of(log))),
                iff(s.holds(q, log), self.slice_time(s, s.write_of(log)) < s.barrier(q)))),
        )  # fmt: skip

    def all_there(self, s: Any) -> Term:
        """True if readers find each log of a completed write."""
        return s.every(LOG, lambda log: implies(published(s, s.write_of(log)), self.is_there(s, log)))

    def atom(self, s: Any) -> Term:
        t = any_time(s)
        # A base file has logs of completed writes only.
        in_bases = s.every(PLAN, LOG, lambda q, log: implies(
            both(self.readable(s, q, s.group_of(log), t), s.holds(q, log)), complete(s, s.write_of(log), t)))
        return both(in_bases, s.every(LOG, LOG, lambda log, other: implies(
            s.write_of(log) == s.write_of(other), both(
                implies(self.visible(s, log, t), both(
                    self.visible(s, other, t), s.stored(other), published(s, s.write_of(log)))),
                # A window, too, finds all logs of each write that it delivers.
                settled_times(s, self.kinds, lambda until: implies(
                    self.delivered(s, s.write_of(log), t, until),
                    both(self.is_there(s, other), s.stored(other), published(s, s.write_of(log))))),
            ))))  # fmt: skip

    def answers_stay(self, s: Any) -> Term:
        """True if each reader that answered uses the writes that a read as of its time contains."""
        return s.every(READER, LOG, lambda d, log: implies(s.reading(d) == ANSWERED, iff(
            both(s.kept_write(d, s.write_of(log)), s.completed(s.write_of(log)) <= s.reads_at(d)),
            self.visible(s, log, s.reads_at(d)))))  # fmt: skip

    def travel(self, s: Any, n: Any) -> Term:
        def same(t: Term) -> Term:
            return both(
                s.every(LOG, lambda log: iff(self.visible(s, log, t), self.visible(n, log, t))),
                *(s.every(kind.sort, lambda x, kind=kind: iff(kind.done_by(s, x, t), kind.done_by(n, x, t)))
                  for kind in self.kinds))  # fmt: skip

        by_clock = self.options.read_time == "clock"
        return both(settled_times(s, self.kinds, same), same(s.clock()) if by_clock else True)

    def incr(self, s: Any) -> Term:
        """True if each log of a read at the end of a window is either in a read at the start or in the window, and no
        other log is. Both reads may use any base file, or none.
        """
        t = any_time(s)

        def adds_up(log: Term, old: Term, new: Term, until: Term) -> Term:
            return self.adds_up(old, both(self.delivered(s, s.write_of(log), t, until), self.is_there(s, log)), new)

        def without_old_base(until: Term) -> Term:
            return both(
                s.every(LOG, lambda log: adds_up(log, self.visible(s, log, t), self.visible(s, log, until), until)),
                s.every(PLAN, LOG, lambda p, log: implies(self.readable(s, p, s.group_of(log), until), adds_up(
                    log, self.visible(s, log, t), self.snapshot_on(s, p, log, until), until))),
            )  # fmt: skip

        def with_old_base(until: Term) -> Term:
            return s.every(PLAN, PLAN, LOG, lambda q, p, log: implies(
                both(self.readable(s, q, s.group_of(log), t), self.readable(s, p, s.group_of(log), until)),
                adds_up(log, self.snapshot_on(s, q, log, t), self.snapshot_on(s, p, log, until), until)))  # fmt: skip

        adds = settled_times(s, self.kinds, lambda until: implies(
            t <= until, both(without_old_base(until), with_old_base(until))))  # fmt: skip
        return both(adds, self.all_there(s))

    def adds_up(self, old: Term, inside: Term, new: Term) -> Term:
        """True if a log of the later read is either in the earlier one or in the window between them, never in both."""
        return iff(old != inside, new)

    def incr_again(self, s: Any, n: Any) -> Term:
        t = any_time(s)
        return settled_times(s, self.kinds, lambda until: s.every(WRITE, lambda w: iff(
            self.delivered(s, w, t, until), self.delivered(n, w, t, until))))  # fmt: skip

    def free(self, s: Any) -> Term:
        """True if no live writer that has stored all its logs must wait, except for the lock."""
        steps = tuple(action for action in self.writers() if action.name in self.on_the_way())
        waits = no(self.lock_is_free(s))
        return s.every(WRITE, lambda w: implies(
            both(no(s.dead_writer(w)), s.phase(w) >= WRITING, s.phase(w) < PUBLISHED, all_stored(s, w)),
            either(both(waits, no(s.writer_locks(w))), self.helps(s, w), *(step.guard(s, w) for step in steps))))

    def helps(self, s: Any, w: Term) -> Term:
        """True if a writer may finish the step of another actor instead of waiting for that actor."""
        return False

    def on_the_way(self) -> frozenset[str]:
        """Return the names of the actions by which a writer completes its instant after it has written all logs."""
        return frozenset(action.name for action in self.completing_writes())

    def reads_what_it_finds(self, s: Any) -> Term:
        """True if each reader that has finished listing uses every write that completed at or before its read time."""
        return s.every(READER, WRITE, lambda d, w: implies(
            both(s.reading(d) >= SURE, complete(s, w, s.reads_at(d))), s.kept_write(d, w)))  # fmt: skip

    def reads_late_enough(self, s: Any, n: Any) -> Term:
        """True if each reader's read time is late enough to include all writes that were published when its read began.
        """
        return s.every(READER, WRITE, lambda d, w: both(
            implies(both(s.reading(d) == LISTING, n.reading(d) > LISTING, s.there_write(d, w)),
                    self.covers(n, d, w)),
            implies(both(s.reading(d) >= LISTED, n.reading(d) >= LISTED), self.keeps_time(s, n, d)),
            implies(both(s.reading(d) < LISTING, n.reading(d) >= LISTING), both(
                n.reading(d) == LISTING, iff(n.there_write(d, w), published(s, w))))))  # fmt: skip

    def covers(self, s: Any, d: Term, w: Term) -> Term:
        return s.completed(w) <= s.reads_at(d)

    def keeps_time(self, s: Any, n: Any, d: Term) -> Term:
        return n.reads_at(d) == s.reads_at(d)

    def distinct(self, s: Any) -> Term:
        names = ("completion times of instants are distinct", "requested times are distinct",
                 "no requested time is a completion time")  # fmt: skip
        return both(
            *(self.clauses()[name](s) for name in names),
            *(s.every(kind.sort, lambda x, kind=kind: implies(
                kind.done(s, x), kind.requested(s, x) < kind.completed(s, x))) for kind in self.kinds),
        )  # fmt: skip

    def in_order(self, s: Any, n: Any) -> Term:
        """True if every instant that a step publishes has a greater completion time than all instants published
        earlier.
        """
        return published_in_order(s, n, self.kinds)

    def actions(self) -> tuple[Move, ...]:
        return (*self.writers(), *self.compactors(), *self.readers())

    def relations(self) -> tuple[Relation, ...]:
        return RELATIONS

    def initially(self, s: Any) -> Term:
        return initially(s)

    def background(self) -> dict[str, Formula]:
        """Return the axioms: facts that the proof assumes about relations that never change."""
        return {}

    def hints(self) -> dict[str, tuple[str, ...]]:
        """Return, for each clause, the other clauses that the first proof attempts assume."""
        return {}

    def system(self) -> ProvedSystem:
        claims = tuple(replace(each, missing=MISSING.get(each.promise, ())) for each in self.claims())
        return ProvedSystem(
            self.relations(), self.initially, self.actions(), self.clauses(), claims, self.background(),
            self.hints(), self.common(),
        )  # fmt: skip
