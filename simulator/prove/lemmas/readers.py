"""Readers: list the timeline, choose a read time, list again, and use the instants that completed by the read time. A
listing is not an atomic snapshot of the folder.
"""

from __future__ import annotations

from typing import Any

from ..logic import Term, Update, at, both, choose, either, implies, no
from ..system import Action, Predicate
from .options import Relations
from .state import ANSWERED, LISTED, LISTING, LISTING_AGAIN, PLAN, READER, SURE, WRITE, published

SEEN = (Predicate((WRITE,)), Predicate((PLAN,)))
"""Parameters of the end of a listing: the later writes and plans that it shows."""


class Readers(Relations):
    """Builds the actions of readers in a transition relation."""

    def readers(self) -> tuple[Action, ...]:
        first = Action(
            "reader starts listing", (READER,), lambda s, d: s.reading(d) == 0,
            lambda s, d: {
                **begin(s, d), "reading": at(s.reading, d, to=LISTING), "reads_at": at(s.reads_at, d, to=0)
            },
            ("reader_starts_listing",),
        )  # fmt: skip
        last = Action(
            "reader reads", (READER,), lambda s, d: s.reading(d) == SURE,
            lambda s, d: {"reading": at(s.reading, d, to=ANSWERED)}, ("reader_reads",),
        )  # fmt: skip
        listings = self.listing_twice() if self.options.listing == "twice" else self.listing_once()
        return (first, *listings, last)

    def may_end_listing(self, s: Any, d: Term, sw: Term, sp: Term, t: Term) -> Term:
        """True if a reader's listing may end now with the read time t. The listing shows all instants that existed when
        it began. It also shows the writes sw and the compactions sp, which completed after it began.
        """
        by_clock = self.options.read_time == "clock"
        takes = t == s.clock() if by_clock else self.is_greatest_shown(s, d, sw, sp, t)
        return both(s.reading(d) == LISTING, self.part_of_the_new(s, d, sw, sp), takes)

    def listing_twice(self) -> tuple[Action, ...]:
        """Return the actions of readers that list the timeline twice. The first listing determines the read time, and
        the second listing determines the instants that completed by then.
        """
        return (
            Action(
                "reader ends listing", (READER, *SEEN, "time"), self.may_end_listing,
                lambda s, d, sw, sp, t: {
                    **forget(s, d), "seen_plan": lambda r, p: both(r != d, s.seen_plan(r, p)),
                    "reads_at": at(s.reads_at, d, to=t), "reading": at(s.reading, d, to=LISTED),
                },
                ("reader_ends_listing",),
            ),
            Action(
                "reader starts listing again", (READER,), lambda s, d: s.reading(d) == LISTED,
                lambda s, d: {**begin(s, d), "reading": at(s.reading, d, to=LISTING_AGAIN)},
                ("reader_starts_listing_again",),
            ),
            Action(
                "reader ends listing again", (READER, *SEEN),
                lambda s, d, sw, sp: both(s.reading(d) == LISTING_AGAIN, self.part_of_the_new(s, d, sw, sp)),
                lambda s, d, sw, sp: {
                    **forget(s, d), **self.keep(s, d, sw, sp, s.reads_at(d)), "reading": at(s.reading, d, to=SURE)
                },
                ("reader_ends_listing_again",),
            ),
        )  # fmt: skip

    def listing_once(self) -> tuple[Action, ...]:
        """Return the actions of readers that list the timeline once."""
        return (
            Action(
                "reader ends its only listing", (READER, *SEEN, "time"), self.may_end_listing,
                lambda s, d, sw, sp, t: {
                    **forget(s, d), **self.keep(s, d, sw, sp, t), "reads_at": at(s.reads_at, d, to=t),
                    "reading": at(s.reading, d, to=SURE),
                },
                ("reader_ends_listing",),
            ),
        )  # fmt: skip

    def is_listed(self, s: Any, w: Term) -> Term:
        """True if the active timeline contains the completed write."""
        return published(s, w)

    def is_listed_plan(self, s: Any, p: Term) -> Term:
        """True if the active timeline contains the completed compaction."""
        return s.done(p)

    def part_of_the_new(self, s: Any, d: Term, sw: Term, sp: Term) -> Term:
        """True if each of the given writes and plans was published after the listing began."""
        return both(
            s.every(WRITE, lambda w: implies(sw(w), both(self.is_listed(s, w), no(s.there_write(d, w))))),
            s.every(PLAN, lambda p: implies(sp(p), both(self.is_listed_plan(s, p), no(s.there_plan(d, p))))),
        )

    def shown(self, s: Any, d: Term, sw: Term, sp: Term) -> tuple[Any, Any]:
        return (
            lambda w: both(self.is_listed(s, w), either(s.there_write(d, w), sw(w))),
            lambda p: both(self.is_listed_plan(s, p), either(s.there_plan(d, p), sp(p))),
        )

    def is_greatest_shown(self, s: Any, d: Term, sw: Term, sp: Term, t: Term) -> Term:
        """True if t is the greatest completion time in the reader's listing, or 0 if the listing contains none."""
        write, plan = self.shown(s, d, sw, sp)
        return is_greatest(s, write, plan, t)

    def keep(self, s: Any, d: Term, sw: Term, sp: Term, t: Term) -> dict[str, Update]:
        write, plan = self.shown(s, d, sw, sp)
        return {
            "kept_write": lambda r, w: choose(r == d, both(write(w), s.completed(w) <= t), s.kept_write(r, w)),
            "kept_plan": lambda r, p: choose(r == d, both(plan(p), s.compacted(p) <= t), s.kept_plan(r, p)),
        }


def begin(s: Any, d: Term) -> dict[str, Update]:
    """Return the state updates that begin a listing. A listing includes all instants that exist when it begins."""
    return {
        "there_write": lambda r, w: choose(r == d, published(s, w), s.there_write(r, w)),
        "there_plan": lambda r, p: choose(r == d, s.done(p), s.there_plan(r, p)),
        "seen_plan": lambda r, p: choose(r == d, s.planned(p), s.seen_plan(r, p)),
    }


def forget(s: Any, d: Term) -> dict[str, Update]:
    return {
        "there_write": lambda r, w: both(r != d, s.there_write(r, w)),
        "there_plan": lambda r, p: both(r != d, s.there_plan(r, p)),
    }


def is_greatest(s: Any, write: Any, plan: Any, t: Term) -> Term:
    """True if t is the greatest completion time of the given writes and plans, or 0 if there are none."""
    return both(
        s.every(WRITE, lambda w: implies(write(w), s.completed(w) <= t)),
        s.every(PLAN, lambda p: implies(plan(p), s.compacted(p) <= t)),
        either(
            t == 0,
            s.some(WRITE, lambda w: both(write(w), s.completed(w) == t)),
            s.some(PLAN, lambda p: both(plan(p), s.compacted(p) == t)),
        ),
    )
