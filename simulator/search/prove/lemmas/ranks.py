"""Merging with deletes: proves which row a read returns for a key, for any number of records of this key.

Each log may contain a record (row or delete) of one fixed key. A base file contains the record that wins the merge of
its inputs. In a table merged by event time, a base file keeps a winning delete (a tombstone). In a table merged by
commit time, it drops the delete, because each later log wins over the base file anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..logic import Relation, Term, Update, both, choose, either, iff, implies, no
from ..system import Claim, Formula
from .instants import settled_times
from .merging import RECORDS, CommitTimeOptions, MergingLemmas, MergingOptions
from .state import LOG, PLAN, any_time, complete, has_base, published

WINS: Final = "a record that wins in a base file outranks the others that it holds"
KEEPS: Final = "a base file keeps the record that wins, unless it drops a delete"
ROWS: Final = (
    "a time is never ahead of the clock",
    "only a plan that exists has parts",
    "completion times of instants are distinct",
    "a base file holds exactly the logs that completed before its barrier",
    "only a record that a base file holds wins in it",
    WINS,
    "in a base file that holds a record one wins",
    KEEPS,
)
"""The clauses that imply the row of a read."""


BASES: Final = (
    "a base file holds exactly the logs that completed before its barrier",
    "only a record that a base file holds wins in it",
    "`newest` has the greatest barrier of the plans of a group",
    "only a plan that exists has parts",
    "a time is never ahead of the clock",
    "completion times of instants are distinct",
)
HINTS: Final[dict[str, tuple[str, ...]]] = {
    WINS: (*BASES, "in a base file that holds a record one wins"), KEEPS: BASES,
}  # fmt: skip
"""Clauses that the proof of a clause needs, tried first."""


class Ranks(MergingLemmas):
    """The core transition relation, with the records of one key added, which a merge by event time combines."""

    def new_winner(self, s: Any, log: Term, in_base: Callable[..., Term]) -> Term:
        """True if the log's record would win the merge of a plan scheduled now. `in_base` is the relation `kept` or
        `won`, and selects the record of the newest base file.
        """
        g = s.group_of(log)

        def base(o: Term) -> Term:
            return both(s.group_of(o) == g, has_base(s, g), in_base(s.newest(g), o))

        def logs(o: Term) -> Term:
            return both(s.group_of(o) == g, self.takes(s, o))

        return both(self.new_part(s, g), self.wins(s, log, base, logs))

    def schedule(self, s: Any, c: Term, p: Term) -> Mapping[str, Update]:
        def won(q: Term, log: Term) -> Term:
            return choose(q == p, self.new_winner(s, log, s.won), s.won(q, log))

        def kept(q: Term, log: Term) -> Term:
            return choose(q == p, both(self.new_winner(s, log, s.kept), self.lasts(s, log)), s.kept(q, log))

        return {**super().schedule(s, c, p), "won": won, "kept": kept}

    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        """True if the core transition relation may schedule the plan, and one record wins the merge in each file group
        of the plan that contains records.

        A merge of finitely many records always has a winner, but first-order logic cannot express finiteness. The
        second condition must therefore be stated.
        """

        def candidate(log: Term) -> Term:
            base = both(has_base(s, s.group_of(log)), s.won(s.newest(s.group_of(log)), log))
            return either(base, both(self.takes(s, log), s.record(log)))

        return both(super().may_schedule(s, c, p), s.every(LOG, lambda log: implies(
            both(self.new_part(s, s.group_of(log)), candidate(log)),
            s.some(LOG, lambda o: both(s.group_of(o) == s.group_of(log), self.new_winner(s, o, s.won))))))  # fmt: skip

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "only a record that a base file holds wins in it": lambda s: s.every(PLAN, LOG, lambda p, log: implies(
                both(s.part(p, s.group_of(log)), s.won(p, log)), both(s.holds(p, log), s.record(log)))),
            WINS: lambda s: s.every(PLAN, LOG, LOG, lambda p, log, o: implies(
                both(s.part(p, s.group_of(log)), s.group_of(o) == s.group_of(log), s.won(p, log), s.holds(p, o),
                     s.record(o), o != log),
                self.outranks(s, log, o))),
            "in a base file that holds a record one wins": lambda s: s.every(PLAN, LOG, lambda p, log: implies(
                both(s.part(p, s.group_of(log)), s.holds(p, log), s.record(log)),
                s.some(LOG, lambda o: both(s.group_of(o) == s.group_of(log), s.won(p, o))))),
            KEEPS: lambda s: s.every(PLAN, LOG, lambda p, log: implies(
                s.part(p, s.group_of(log)), iff(s.kept(p, log), both(s.won(p, log), self.lasts(s, log))))),
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        return frozenset(super().clauses())

    def claims(self) -> tuple[Claim, ...]:
        rows = (
            ("the row of a read from any base file has the greatest rank", self.row_is_greatest),
            ("the record of greatest rank is the row from any base file", self.greatest_is_row),
            ("without a base file the row is the record of greatest rank", self.row_of_logs),
        )
        return (
            *super().claims(),
            *(Claim(promise, about, formula, by=ROWS)
              for promise in ("QUIET", "SNAP", "INCR") for about, formula in rows),
            Claim("INCR", "the row at the end of a window is the greater of that at its start and that of the window",
                  self.windows_add_up, by=ROWS),
            Claim("INCR", "the row of a window is the record of greatest rank in it", self.row_of_window, by=ROWS),
            *((Claim("LAWS", "a base file keeps the tombstone of each delete that wins among its records",
                     self.keeps_tombstones, by=ROWS),) if self.by_event else ()),
            Claim("LAWS", "a base file merges logs of completed writes, without a gap in completion order",
                  self.merges_contiguous, by=ROWS),
            Claim("LAWS", "rank is a strict total order of the records of completed logs: merging is a maximum",
                  self.total),
        )  # fmt: skip

    def row(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """True if the log's record is the row that a read as of t returns, if the read uses the base file of plan q. A
        delete is the row only if base files keep deletes.
        """

        def here(o: Term) -> Term:
            return s.group_of(o) == s.group_of(log)

        return self.wins(
            s, log, lambda o: both(here(o), s.kept(q, o)), lambda o: both(here(o), self.in_logs(s, q, o, t))
        )

    def greatest(self, s: Any, log: Term, t: Term) -> Term:
        return self.greatest_of(s, log, lambda o: both(s.group_of(o) == s.group_of(log), complete(s, s.write_of(o), t)))

    def row_is_greatest(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(readable(s, q, log, t), self.lasts(s, log), self.row(s, q, log, t)),
            self.greatest(s, log, t)))  # fmt: skip

    def greatest_is_row(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(readable(s, q, log, t), self.lasts(s, log), self.greatest(s, log, t)),
            self.row(s, q, log, t)))  # fmt: skip

    def row_of_logs(self, s: Any) -> Term:
        t = any_time(s)

        def read(log: Term) -> Callable[[Term], Term]:
            return lambda o: both(s.group_of(o) == s.group_of(log), self.visible(s, o, t))

        return s.every(LOG, lambda log: iff(
            self.wins(s, log, lambda _: False, read(log)), self.greatest(s, log, t)))  # fmt: skip

    def row_of_window(self, s: Any) -> Term:
        t = any_time(s)
        return settled_times(s, self.kinds, lambda until: s.every(LOG, lambda log: iff(
            self.wins(s, log, lambda _: False, self.in_window(s, log, t, until)),
            self.greatest_of(s, log, self.in_window(s, log, t, until)))))  # fmt: skip

    def windows_add_up(self, s: Any) -> Term:
        """True if the record of greatest rank at the end of a window follows from that at its start and that of the
        window. By other claims these three are the rows of the reads.
        """
        t = any_time(s)

        def ends(until: Term) -> Term:
            def inside(log: Term) -> Term:
                return self.greatest_of(s, log, self.in_window(s, log, t, until))

            def old(log: Term) -> Term:
                return self.greatest(s, log, t)

            def new(log: Term) -> Term:
                return self.greatest(s, log, until)

            def none(log: Term, among: Any) -> Term:
                return s.every(LOG, lambda o: no(both(s.group_of(o) == s.group_of(log), s.record(o), among(o))))

            return both(
                s.every(LOG, lambda log: implies(new(log), either(old(log), inside(log)))),
                s.every(LOG, LOG, lambda a, b: implies(
                    both(s.group_of(a) == s.group_of(b), old(a), inside(b)),
                    both(implies(self.outranks(s, a, b), new(a)), implies(self.outranks(s, b, a), new(b))))),
                s.every(LOG, lambda a: implies(
                    both(old(a), none(a, self.in_window(s, a, t, until))), new(a))),
                s.every(LOG, lambda b: implies(
                    both(inside(b), none(b, lambda o: complete(s, s.write_of(o), t))), new(b))),
            )  # fmt: skip

        return settled_times(s, self.kinds, lambda until: implies(t <= until, ends(until)))

    def keeps_tombstones(self, s: Any) -> Term:
        return s.every(PLAN, LOG, lambda p, log: implies(
            both(s.part(p, s.group_of(log)), s.deleted(log), s.holds(p, log), s.record(log),
                 s.every(LOG, lambda o: implies(
                     both(s.group_of(o) == s.group_of(log), s.holds(p, o), s.record(o), o != log),
                     self.outranks(s, log, o)))),
            s.kept(p, log)))  # fmt: skip

    def merges_contiguous(self, s: Any) -> Term:
        return both(
            s.every(PLAN, LOG, lambda p, log: implies(
                both(s.part(p, s.group_of(log)), s.holds(p, log)), published(s, s.write_of(log)))),
            s.every(PLAN, LOG, LOG, lambda p, a, b: implies(
                both(s.part(p, s.group_of(b)), s.group_of(a) == s.group_of(b), s.holds(p, b),
                     published(s, s.write_of(a)), s.completed(s.write_of(a)) <= s.completed(s.write_of(b))),
                s.holds(p, a))),
        )  # fmt: skip

    def total(self, s: Any) -> Term:
        def done(*logs: Term) -> Term:
            return both(*(published(s, s.write_of(log)) for log in logs))

        return both(
            s.every(LOG, LOG, lambda a, b: implies(both(done(a, b), a != b, s.group_of(a) == s.group_of(b)), both(
                either(self.outranks(s, a, b), self.outranks(s, b, a)),
                no(both(self.outranks(s, a, b), self.outranks(s, b, a)))))),
            s.every(LOG, LOG, LOG, lambda a, b, c: implies(
                both(done(a, b, c), self.outranks(s, a, b), self.outranks(s, b, c)), self.outranks(s, a, c))),
        )  # fmt: skip

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *RECORDS)

    def initially(self, s: Any) -> Term:
        return both(super().initially(s), s.every(PLAN, LOG, lambda p, log: both(
            no(s.won(p, log)), no(s.kept(p, log)))))  # fmt: skip

    def hints(self) -> dict[str, tuple[str, ...]]:
        return HINTS


class CommitTime(Ranks):
    """The core transition relation, with the records of one key added, which a merge by commit time combines."""

    options: CommitTimeOptions
    by_event = False


def readable(s: Any, q: Term, log: Term, t: Term) -> Term:
    """True if a read as of t may use the base file that plan q wrote in the log's file group."""
    return both(s.done(q), s.compacted(q) <= t, s.part(q, s.group_of(log)))


__all__ = ["CommitTime", "CommitTimeOptions", "MergingOptions", "Ranks"]
