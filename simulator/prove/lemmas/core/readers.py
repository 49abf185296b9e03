"""Readers of the core: `model/kernel/reader.py`. No listing is a snapshot."""

from __future__ import annotations

from typing import Any

from ...logic import Term, Update, at, both, choose
from ...system import Action, Predicate
from .options import Base
from .vocabulary import (
    ANSWERED,
    LISTED,
    LISTING,
    LISTING_AGAIN,
    PLAN,
    READER,
    SURE,
    WRITE,
    greatest,
    keep,
    part_of_the_new,
    published,
)


class Readers(Base):
    """The actions of readers."""

    def reads_as_of(self, s: Any, d: Term, sw: Term, sp: Term, t: Term) -> Term:
        """The time that a reader takes at the end of its first listing."""
        return t == s.clock() if self.options.read_time == "clock" else greatest(s, d, sw, sp, t)

    def readers(self) -> tuple[Action, ...]:
        twice = self.options.listing == "twice"
        seen = (Predicate((WRITE,)), Predicate((PLAN,)))
        return (
            Action(
                "reader starts listing", (READER,), lambda s, d: s.reading(d) == 0,
                lambda s, d: {
                    **begin(s, d), "reading": at(s.reading, d, to=LISTING), "reads_at": at(s.reads_at, d, to=0)
                },
                ("reader_starts_listing",),
            ),
            *(self.first_listing() if twice else ()),
            Action(
                "reader ends listing again" if twice else "reader ends its only listing",
                (READER, *seen) if twice else (READER, *seen, "time"),
                (lambda s, d, sw, sp: both(s.reading(d) == LISTING_AGAIN, part_of_the_new(s, d, sw, sp)))
                if twice
                else (
                    lambda s, d, sw, sp, t: both(
                        s.reading(d) == LISTING, part_of_the_new(s, d, sw, sp), self.reads_as_of(s, d, sw, sp, t)
                    )
                ),
                lambda s, d, sw, sp, *t: {
                    **forget(s, d), **keep(s, d, sw, sp, *(t or (s.reads_at(d),))),
                    "reading": at(s.reading, d, to=SURE),
                    **({"reads_at": at(s.reads_at, d, to=t[0])} if t else {}),
                },
                ("reader_ends_listing_again",) if twice else ("reader_ends_listing",),
            ),
            Action(
                "reader reads", (READER,), lambda s, d: s.reading(d) == SURE,
                lambda s, d: {"reading": at(s.reading, d, to=ANSWERED)}, ("reader_reads",),
            ),
        )  # fmt: skip

    def first_listing(self) -> tuple[Action, ...]:
        """A reader that lists twice takes its time from the first listing."""
        return (
            Action(
                "reader ends listing", (READER, Predicate((WRITE,)), Predicate((PLAN,)), "time"),
                lambda s, d, sw, sp, t: both(
                    s.reading(d) == LISTING, part_of_the_new(s, d, sw, sp), self.reads_as_of(s, d, sw, sp, t)
                ),
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
        )  # fmt: skip


def begin(s: Any, d: Term) -> dict[str, Update]:
    """The listing will show every instant that is there now."""
    return {
        "there_write": lambda r, w: choose(r == d, published(s, w), s.there_write(r, w)),
        "there_plan": lambda r, p: choose(r == d, s.done(p), s.there_plan(r, p)),
        "seen_plan": lambda r, p: choose(r == d, s.planned(p), s.seen_plan(r, p)),
    }


def forget(s: Any, d: Term) -> dict[str, Update]:
    return {
        "there_write": lambda r, w: choose(r == d, False, s.there_write(r, w)),
        "there_plan": lambda r, p: choose(r == d, False, s.there_plan(r, p)),
    }
