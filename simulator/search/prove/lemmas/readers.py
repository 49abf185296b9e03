"""Readers: list the timeline, choose a read time, list again, and use the instants that completed by the read time. A
listing is not an atomic snapshot of the folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model.kernel.reader import READER_ENDS_LISTING
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES

from ..logic import Term, Update, at, both, choose, either, implies, no, when
from ..system import Move, SetParameter
from .instants import Instants, is_greatest
from .options import Relations
from .state import ANSWERED, DIED, LISTED, LISTING, LISTING_AGAIN, READER, SURE

Seen = tuple[Term, ...]
"""Parameters of the end of a listing: for each kind of instants the later ones that the listing shows."""


class Readers(Relations):
    """Builds the actions of readers in a transition relation."""

    def readers(self) -> tuple[Move, ...]:
        first = Move(
            "reader starts listing", (READER,), lambda s, d: s.reading(d) == 0,
            lambda s, d: {
                **self.begin(s, d), "reading": at(s.reading, d, to=LISTING), "reads_at": at(s.reads_at, d, to=0)
            },
        )  # fmt: skip
        last = Move(
            "reader reads", (READER,), lambda s, d: both(s.reading(d) == SURE, self.finds_files(s, d)),
            lambda s, d: {"reading": at(s.reading, d, to=ANSWERED)},
        )  # fmt: skip
        dies = Move(
            "reader crashes", (READER,), lambda s, d: both(s.reading(d) > 0, s.reading(d) < ANSWERED),
            lambda s, d: {"reading": at(s.reading, d, to=DIED)}, (ACTOR_CRASHES,),
        )  # fmt: skip
        listings = self.listing_twice() if self.options.listing == "twice" else self.listing_once()
        return (first, *listings, last, dies)

    def finds_files(self, s: Any, d: Term) -> Term:
        """True if no file that the read needs is deleted."""
        return True

    @property
    def seen(self) -> tuple[SetParameter, ...]:
        return tuple(SetParameter((kind.sort,)) for kind in self.kinds)

    def may_end_listing(self, s: Any, d: Term, *seen_and_time: Term) -> Term:
        """True if a reader's listing may end now with the read time t, the last parameter. The listing shows all
        instants that existed when it began. It also shows the other parameters, which completed after it began.
        """
        *seen, t = seen_and_time
        by_clock = self.options.read_time == "clock"
        return when(s.reading(d) == LISTING, lambda: when(
            t == s.clock() if by_clock else is_greatest(s, self.kinds, self.shown(s, d, seen), t),
            lambda: self.part_of_the_new(s, d, seen)))  # fmt: skip

    def listing_twice(self) -> tuple[Move, ...]:
        """Return the actions of readers that list the timeline twice. The first listing determines the read time, and
        the second listing determines the instants that completed by then.
        """
        return (
            Move(
                "reader ends listing", (READER, *self.seen, "time"), self.may_end_listing,
                lambda s, d, *seen_and_time: {
                    **self.forget(s, d), "seen_plan": lambda r, p: both(r != d, s.seen_plan(r, p)),
                    "reads_at": at(s.reads_at, d, to=seen_and_time[-1]), "reading": at(s.reading, d, to=LISTED),
                },
            ),
            Move(
                "reader starts listing again", (READER,), lambda s, d: s.reading(d) == LISTED,
                lambda s, d: {**self.begin(s, d), "reading": at(s.reading, d, to=LISTING_AGAIN)},
            ),
            Move(
                "reader ends listing again", (READER, *self.seen),
                lambda s, d, *seen: when(
                    s.reading(d) == LISTING_AGAIN, lambda: self.part_of_the_new(s, d, seen)),
                lambda s, d, *seen: {
                    **self.forget(s, d), **self.keep(s, d, self.shown(s, d, seen), s.reads_at(d)),
                    "reading": at(s.reading, d, to=SURE),
                },
            ),
        )  # fmt: skip

    def listing_once(self) -> tuple[Move, ...]:
        """Return the actions of readers that list the timeline once."""
        return (
            Move(
                "reader ends its only listing", (READER, *self.seen, "time"), self.may_end_listing,
                lambda s, d, *seen_and_time: {
                    **self.forget(s, d), **self.keep(s, d, self.shown(s, d, seen_and_time[:-1]), seen_and_time[-1]),
                    "reads_at": at(s.reads_at, d, to=seen_and_time[-1]), "reading": at(s.reading, d, to=SURE),
                },
                (READER_ENDS_LISTING,),
            ),
        )  # fmt: skip

    def is_listed(self, s: Any, kind: Instants, x: Term) -> Term:
        """True if the active timeline contains the completed instant."""
        return kind.done(s, x)

    def part_of_the_new(self, s: Any, d: Term, seen: Seen | list[Term]) -> Term:
        """True if each of the given instants was published after the listing began."""
        return both(*(
            s.every(kind.sort, lambda x, kind=kind, new=new: implies(
                new(x), both(self.is_listed(s, kind, x), no(kind.there(s, d, x)))))
            for kind, new in zip(self.kinds, seen, strict=True)
        ))  # fmt: skip

    def shown(self, s: Any, d: Term, seen: Seen | list[Term]) -> tuple[Any, ...]:
        """Return, for each kind of instants, the predicate that is true for those in the reader's listing."""
        return tuple(
            lambda x, kind=kind, new=new: both(self.is_listed(s, kind, x), either(kind.there(s, d, x), new(x)))
            for kind, new in zip(self.kinds, seen, strict=True)
        )

    def begin(self, s: Any, d: Term) -> dict[str, Update]:
        """Return the state updates that begin a listing. A listing includes all instants that exist when it begins."""
        there = {
            f"there_{kind.noun}": lambda r, x, kind=kind: choose(r == d, kind.done(s, x), kind.there(s, r, x))
            for kind in self.kinds
        }
        return {**there, "seen_plan": lambda r, p: choose(r == d, s.planned(p), s.seen_plan(r, p))}

    def forget(self, s: Any, d: Term) -> dict[str, Update]:
        return {
            f"there_{kind.noun}": lambda r, x, kind=kind: both(r != d, kind.there(s, r, x)) for kind in self.kinds
        }

    def keep(self, s: Any, d: Term, shown: tuple[Any, ...], t: Term) -> Mapping[str, Update]:
        """Return the state updates by which a reader uses the shown instants that completed at or before t."""
        return {
            f"kept_{kind.noun}": lambda r, x, kind=kind, has=has: choose(
                r == d, both(has(x), kind.completed(s, x) <= t), kind.kept(s, r, x))
            for kind, has in zip(self.kinds, shown, strict=True)
        }  # fmt: skip
