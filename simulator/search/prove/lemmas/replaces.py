"""Insert overwrites: a completed insert overwrite hides the earlier writes in its file groups.

A write is hidden if it completed before the requested time of the insert overwrite. An overwriter acts like a compactor
whose plan includes no logs, and whose base files contain new rows. Each overwriter performs one insert overwrite. An
insert overwrite is scheduled only while no plan is pending in its file groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ..logic import Relation, Term, Update, at, both, choose, either, iff, implies, no
from ..system import Claim, Formula, Move
from . import core, options
from .state import (
    COMPACTOR,
    GROUP,
    IDLE,
    LOG,
    PLAN,
    SCHEDULED,
    any_time,
    complete,
    published,
    takes_up,
    tick,
)  # fmt: skip

REPLACES: Final = (
    Relation("overwriter", (COMPACTOR,), fixed=True),
    Relation("overwrites", (COMPACTOR, GROUP), fixed=True),
    Relation("replaces", (PLAN,)),  # the plan is that of a replace
    Relation("shows", (PLAN, PLAN, GROUP)),  # the base file of the first plan holds the rows of the replace
)
HOLDS = "a base file holds exactly the logs that completed before its barrier"
HIDING_IGNORED: Final = frozenset({"ATOM", "INCR", "QUIET"})
STEPS: Final = {
    "compactor starts plan": ("overwriter_starts_replace",),
    "compactor writes base": ("overwriter_writes_base",),
    "compactor takes lock": ("overwriter_takes_lock",),
    "compactor takes completion time": ("overwriter_takes_completion_time",),
    "compactor publishes instant": ("overwriter_publishes_instant",),
}
"""The steps that compactors and overwriters have in common, with the overwriter's actions of the model."""


@dataclass(frozen=True)
class ReplaceOptions(options.CoreOptions):
    """The model options that affect insert overwrites, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier"] = "completed_before_barrier"
    slicing: Literal["completion"] = "completion"
    replacing: Literal["plan", "file_ids"] = "plan"


class Replaces(core.Core):
    """The core transition relation, extended by overwriters (actors that run insert overwrite)."""

    options: ReplaceOptions

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *REPLACES)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.every(PLAN, lambda p: no(s.replaces(p))),
            s.every(PLAN, PLAN, GROUP, lambda p, r, g: no(s.shows(p, r, g))),
        )  # fmt: skip

    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_schedule(s, c, p), no(s.overwriter(c)))

    def may_resume(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_resume(s, c, p), no(s.overwriter(c)), no(s.replaces(p)))

    def schedule(self, s: Any, c: Term, p: Term) -> Mapping[str, Update]:
        def shows(q: Term, r: Term, g: Term) -> Term:
            shown = both(self.new_part(s, g), s.part(s.newest(g), g), s.shows(s.newest(g), r, g))
            return choose(q == p, shown, s.shows(q, r, g))

        return {**super().schedule(s, c, p), "shows": shows}

    def may_replace(self, s: Any, c: Term, p: Term) -> Term:
        """True if the overwriter has not scheduled its insert overwrite yet, and no plan is pending in its file groups.
        """
        return both(
            s.overwriter(c), s.work(c) == IDLE, no(s.dead_compactor(c)), self.lock_is_free(s), no(s.planned(p)),
            s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.planned(q))),
            s.every(PLAN, lambda q: implies(s.planned(q), no(both(s.replaces(q), s.runner(q) == c)))),
            s.every(PLAN, GROUP, lambda q, g: implies(both(s.part(q, g), s.overwrites(c, g)), s.done(q))),
        )  # fmt: skip

    def schedule_replace(self, s: Any, c: Term, p: Term) -> Mapping[str, Update]:
        """Return the state updates that schedule an insert overwrite. Its plan includes no logs, because its base files
        will contain only new rows.
        """
        return {
            **tick(s), **takes_up(s, c, p, SCHEDULED),
            "planned": at(s.planned, p, to=True), "barrier": at(s.barrier, p, to=s.clock() + 1),
            "runner": at(s.runner, p, to=c), "replaces": at(s.replaces, p, to=True),
            "part": lambda q, g: choose(q == p, s.overwrites(c, g), s.part(q, g)),
            "newest": lambda g: choose(s.overwrites(c, g), p, s.newest(g)),
            "holds": lambda q, log: both(q != p, s.holds(q, log)),
            "shows": lambda q, r, g: choose(q == p, both(r == p, s.overwrites(c, g)), s.shows(q, r, g)),
        }  # fmt: skip

    def compactors(self) -> tuple[Move, ...]:
        shared = (replace(each, others=(*each.stands_for, *STEPS.get(each.name, ())))
                  for each in super().compactors())  # fmt: skip
        replaces = (COMPACTOR, PLAN), self.may_replace, self.schedule_replace
        schedules = Move("overwriter schedules replace", *replaces)
        return (*shared, schedules)

    def is_hidden(self, s: Any, log: Term, by: Any) -> Term:
        """True if the log is hidden by an insert overwrite for which the predicate `by` is true."""
        return s.some(PLAN, lambda r: both(
            by(r), s.replaces(r), s.part(r, s.group_of(log)), s.completed(s.write_of(log)) < s.barrier(r)))

    def is_last(self, s: Any, r: Term, g: Term, by: Any) -> Term:
        """True if r is the latest requested insert overwrite of file group g for which the predicate `by` is true."""
        return both(by(r), s.replaces(r), s.part(r, g), s.every(PLAN, lambda o: implies(
            both(by(o), s.replaces(o), s.part(o, g)), s.barrier(o) <= s.barrier(r))))  # fmt: skip

    def in_logs(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """True if a read as of t includes the log. With `replacing = file_ids`, a completed insert overwrite hides all
        logs of its file groups, even later ones.
        """
        read = super().in_logs(s, q, log, t)
        if self.options.replacing == "plan":
            return read
        return both(read, no(s.some(PLAN, lambda r: both(
            s.replaces(r), s.part(r, s.group_of(log)), s.done(r), s.compacted(r) <= t))))  # fmt: skip

    def snap(self, s: Any) -> Term:
        """True if SNAP holds for each read whose base file is not hidden by a completed insert overwrite."""
        t = any_time(s)

        def is_complete(r: Term) -> Term:
            return both(s.done(r), s.compacted(r) <= t)

        def is_base(q: Term, g: Term) -> Term:
            return both(is_complete(q), s.part(q, g), s.every(PLAN, lambda r: implies(
                both(is_complete(r), s.replaces(r), s.part(r, g)), s.barrier(r) <= s.barrier(q))))  # fmt: skip

        return both(
            s.every(PLAN, LOG, lambda q, log: implies(is_base(q, s.group_of(log)), iff(
                self.snapshot_on(s, q, log, t),
                both(complete(s, s.write_of(log), t), no(self.is_hidden(s, log, is_complete)))))),
            s.every(PLAN, PLAN, GROUP, lambda q, r, g: implies(
                is_base(q, g), iff(s.shows(q, r, g), self.is_last(s, r, g, is_complete)))),
        )  # fmt: skip

    def part(self, s: Any) -> Term:
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(s.part(q, s.group_of(log)), published(s, s.write_of(log))),
            iff(either(s.holds(q, log), self.is_hidden(s, log, lambda r: s.barrier(r) <= s.barrier(q))),
                s.completed(s.write_of(log)) < s.barrier(q))))  # fmt: skip

    def clauses(self) -> dict[str, Formula]:
        def until(s: Any, p: Term) -> Any:
            return lambda r: s.barrier(r) <= s.barrier(p)

        return super().clauses() | {
            HOLDS: lambda s: s.every(PLAN, LOG, lambda p, log: implies(
                s.part(p, s.group_of(log)), iff(s.holds(p, log), both(
                    published(s, s.write_of(log)), s.completed(s.write_of(log)) < s.barrier(p),
                    no(self.is_hidden(s, log, until(s, p))))))),
            "a base file shows the last replace before its barrier": lambda s: s.every(
                PLAN, PLAN, GROUP, lambda p, r, g: implies(
                    s.part(p, g), iff(s.shows(p, r, g), self.is_last(s, r, g, until(s, p))))),
            "a plan is scheduled after the earlier plans of its groups are complete": lambda s: s.every(
                PLAN, PLAN, GROUP, lambda p, q, g: implies(
                    both(s.part(p, g), s.part(q, g), s.barrier(p) < s.barrier(q)),
                    both(s.done(p), s.compacted(p) < s.barrier(q)))),
            "only a plan that exists replaces": lambda s: s.every(PLAN, lambda p: implies(s.replaces(p), s.planned(p))),
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        return frozenset(self.clauses())

    def bases_agree(self, s: Any) -> Term:
        """True if each read contains exactly what completed by then and no complete replace hides, from any base."""
        return self.snap(s)

    def claims_of_the_core(self) -> tuple[Claim, ...]:
        """Return the core promises except those whose formulas ignore that an insert overwrite hides writes."""
        about = ("a read contains exactly the logs that completed by then and that no complete replace hides, and "
                 "readers have answered what it contains")  # fmt: skip
        others = (each for each in super().claims_of_the_core() if each.promise not in HIDING_IGNORED)
        claims = tuple(replace(each, about=about) if each.promise == "SNAP" else each for each in others)
        return (*claims, Claim("PART", "readers use the slices of the plans", self.snap))
