"""The actions of authors: learn the tail of the log, publish what the last entry decides, list the announcements, and
put the next entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations_with_replacement, product
from typing import Any, Final

from nbcc.model.kernel import compactor, writer
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER

from ..logic import Term, Update, at, both, choose, either, implies, no, when
from ..system import Move, NewTimes, SetParameter, TimesParameter
from . import core
from .entries import (
    AUTHOR,
    DECIDED,
    LEARNS,
    LEARNT,
    LISTED,
    LISTS,
    PLANS,
    WRITES,
    Contents,
    Items,
    TimedItems,
    is_odd,
    odd_after,
)
from .state import COMPACTOR, IDLE, LOG, PLAN, PUBLISHED, published

AUTHORS: Final = (writer.WRITER.name, compactor.COMPACTOR.name, ROLLBACKER.name)
"""The kinds of actors that put entries."""


class Authors(core.Core):
    """The core transition relation with entries that decide announcements."""

    contents: Contents = Contents()

    def authors(self) -> tuple[Move, ...]:
        return (
            Move(
                "author learns tail", (AUTHOR,), lambda s, a: s.deciding(a) == LEARNS, self.learns,
                stands_for("learns_tail"),
            ),
            *(self.publishes(kind) for kind in self.contents.items),
            *self.listing(),
            Move(
                "author puts entry", (AUTHOR, TimesParameter(
                    tuple(kind.sort for kind in self.contents.commits), self.least_times)),
                self.may_put, self.put, stands_for("creates_entry"),
            ),
            Move(
                "author finds its number taken", (AUTHOR,),
                lambda s, a: both(s.deciding(a) == LISTED, s.learnt_tail(a) < s.tail()),
                lambda s, a: {
                    **self.forgets_listing(s, a), "deciding": at(s.deciding, a, to=LEARNS),
                    "failed": at(s.failed, a, to=s.failed(a) + 1),
                },
                stands_for("creates_entry"),
            ),
        )  # fmt: skip

    def learns(self, s: Any, a: Term) -> dict[str, Update]:
        """Return the state updates by which an author learns the number of the last entry, and reads this entry."""
        return {
            "deciding": at(s.deciding, a, to=LEARNT), "learnt_tail": at(s.learnt_tail, a, to=s.tail()),
            "learnt_reserved": at(s.learnt_reserved, a, to=s.reserved()),
        }  # fmt: skip

    def publishes(self, kind: Items) -> Move:
        """Return the action by which an author publishes the next item of the last entry that it knows."""
        return Move(
            f"author publishes {kind.noun}", (AUTHOR, kind.sort),
            lambda s, a, x: when(
                both(s.deciding(a) == LEARNT, kind.decided(s, x), kind.entry(s, x) == s.learnt_tail(a),
                     no(kind.published(s, x))),
                lambda: self.is_next(s, kind, x)),
            lambda s, a, x: self.publication(s, kind, x), stands_for("publishes_item"),
        )  # fmt: skip

    def is_next(self, s: Any, kind: Items, x: Term) -> Term:
        """True if every earlier item of the same entry is published. The plans come first, of one kind after the other.
        The plans of a kind, and the commits, are in the order of requested times.
        """
        def place(other: Items) -> int:
            return self.contents.plans.index(other) if other in self.contents.plans else len(self.contents.plans)

        return both(*(
            s.every(other.sort, lambda y, other=other: implies(
                both(other.entry(s, y) == kind.entry(s, x),
                     either(place(other) < place(kind), other.requested(s, y) < kind.requested(s, x))),
                other.published(s, y)))
            for other in self.contents.items if place(other) <= place(kind)))  # fmt: skip

    def publication(self, s: Any, kind: Items, x: Term) -> Mapping[str, Update]:
        """Return the state updates that put an item on the timeline."""
        if kind.noun == WRITES.noun:
            return {"phase": at(s.phase, x, to=PUBLISHED)}
        if kind.noun != PLANS.noun:
            return {"done": at(s.done, x, to=True)}
        barrier = s.barrier(x)
        return {
            "planned": at(s.planned, x, to=True),
            "part": lambda q, g: choose(q == x, self.new_part_at(s, g, barrier), s.part(q, g)),
            "newest": lambda g: choose(self.new_part_at(s, g, barrier), x, s.newest(g)),
            "holds": lambda q, log: choose(
                q == x, both(self.new_part_at(s, s.group_of(log), barrier), is_before(s, log, barrier)),
                s.holds(q, log)),
        }  # fmt: skip

    def new_part_at(self, s: Any, g: Term, barrier: Term) -> Term:
        """True if a plan with the barrier takes logs of the group: its last plan completed before the barrier, and a
        log of the newest slice did.
        """
        idle = s.every(PLAN, lambda q: implies(s.part(q, g), both(s.done(q), s.compacted(q) < barrier)))
        return both(idle, s.some(LOG, lambda log: both(
            s.group_of(log) == g, is_before(s, log, barrier),
            s.every(PLAN, lambda q: implies(s.part(q, g), s.completed(s.write_of(log)) >= s.barrier(q))))))  # fmt: skip

    def listing(self) -> tuple[Move, ...]:
        """Return the actions by which an author lists the announcements. The listing shows all that were there when it
        began, and any part of those that were put meanwhile, without those on the timeline.
        """
        return (
            Move(
                "author starts listing announcements", (AUTHOR,),
                lambda s, a: when(
                    s.deciding(a) == LEARNT,
                    lambda: both(self.asks(s, a), self.contents.is_published(s, s.learnt_tail(a)))),
                lambda s, a: {
                    "deciding": at(s.deciding, a, to=LISTS),
                    **{f"lists_{kind.noun}": lambda b, x, kind=kind: choose(
                        b == a, kind.is_open(s, a, x), kind.lists(s, b, x)) for kind in self.contents.items},
                },
                stands_for("starts_listing_announced"),
            ),
            Move(
                "author ends listing announcements",
                (AUTHOR, *(SetParameter((kind.sort,)) for kind in self.contents.items)),
                lambda s, a, *later: when(s.deciding(a) == LISTS, lambda: both(*(
                    s.every(kind.sort, lambda x, kind=kind, more=more: implies(
                        more(x), both(kind.is_open(s, a, x), no(kind.lists(s, a, x)))))
                    for kind, more in zip(self.contents.items, later, strict=True)))),
                lambda s, a, *later: {
                    "deciding": at(s.deciding, a, to=LISTED),
                    **{f"lists_{kind.noun}": lambda b, x, kind=kind, more=more: choose(
                        b == a, both(kind.is_open(s, a, x), either(kind.lists(s, a, x), more(x))), kind.lists(s, b, x))
                        for kind, more in zip(self.contents.items, later, strict=True)},
                },
                stands_for("ends_listing_announced"),
            ),
        )  # fmt: skip

    def asks(self, s: Any, a: Term) -> Term:
        """True if the author has an announcement that is not on the timeline, and knows no opposite decision."""
        unpublished = both(*(
            s.every(each.sort, lambda y, each=each: implies(
                both(each.author(s, y) == a, each.asking(s, y)), both(
                    no(each.items.published(s, each.item(s, y))), no(each.items.refuted(s, a, each.item(s, y))))))
            for each in self.contents.asks))  # fmt: skip
        return both(unpublished, s.every(COMPACTOR, lambda c: implies(s.compacts_as(c) == a, s.work(c) > IDLE)))

    def may_put(self, s: Any, a: Term, times: NewTimes) -> Term:
        return when(both(s.deciding(a) == LISTED, s.learnt_tail(a) == s.tail()),
                    lambda: self.gives_times(s, a, times))  # fmt: skip

    def gives_times(self, s: Any, a: Term, times: NewTimes) -> Term:
        """True if all listed commits get odd times in the order of their requested times, after the last entry's."""
        given = tuple(zip(self.contents.commits, times.of, strict=True))
        return both(
            times.last > s.reserved(), is_odd(times.last),
            *(s.every(kind.sort, lambda x, kind=kind, time=time: implies(kind.lists(s, a, x), both(
                is_odd(time(x)), s.reserved() < time(x), kind.requested(s, x) < time(x), time(x) < times.last)))
              for kind, time in given),
            *(s.every(one.sort, other.sort, lambda x, y, one=one, other=other, t=t, u=u: implies(
                both(one.lists(s, a, x), other.lists(s, a, y), t(x) == u(y)), x == y if one is other else False))
              for (one, t), (other, u) in combinations_with_replacement(given, 2)),
            *(s.every(one.sort, other.sort, lambda x, y, one=one, other=other, t=t, u=u: implies(
                both(one.lists(s, a, x), other.lists(s, a, y), one.requested(s, x) < other.requested(s, y)),
                t(x) < u(y)))
              for (one, t), (other, u) in product(given, given)),
        )  # fmt: skip

    def put(self, s: Any, a: Term, times: NewTimes) -> dict[str, Update]:
        """Return the state updates that create the next entry. It decides everything that its author has listed."""

        def number(kind: Items) -> Update:
            return lambda x: choose(kind.chosen(s, a, x), s.tail() + 1, kind.entry(s, x))

        def time(kind: TimedItems, given: Any) -> Update:
            return lambda x: choose(kind.lists(s, a, x), given(x), kind.completed(s, x))

        return {
            "tail": lambda: s.tail() + 1, "reserved": lambda: times.last,
            **{f"entry_of_{kind.noun}": number(kind) for kind in self.contents.items},
            **{kind.time: time(kind, given)
               for kind, given in zip(self.contents.commits, times.of, strict=True)},
            "phase": lambda w: choose(WRITES.lists(s, a, w), DECIDED, s.phase(w)),
            **self.forgets_listing(s, a), "deciding": at(s.deciding, a, to=LEARNT),
            "learnt_tail": at(s.learnt_tail, a, to=s.tail() + 1),
            "learnt_reserved": at(s.learnt_reserved, a, to=times.last),
        }  # fmt: skip


    def forgets_listing(self, s: Any, a: Term) -> dict[str, Update]:
        return {f"lists_{kind.noun}": lambda b, x, kind=kind: both(b != a, kind.lists(s, b, x))
                for kind in self.contents.items}  # fmt: skip

    def least_times(self, s: Any, a: Any) -> NewTimes:
        """Return the times that the model's authors give: each the next odd time, in the order of requested times."""
        listed = [(kind.requested(s, x), place, x) for place, kind in enumerate(self.contents.commits)
                  for x in s.elements(kind.sort) if kind.lists(s, a, x)]  # fmt: skip
        times: dict[tuple[int, Any], int] = {}
        last = s.reserved()
        for requested, place, x in sorted(listed):
            last = times[place, x] = odd_after(max(last, requested))

        def time_of(place: int) -> Callable[[Any], int]:
            return lambda x: times.get((place, x), 0)

        return NewTimes(tuple(map(time_of, range(len(self.contents.commits)))), odd_after(last))


def is_before(s: Any, log: Term, barrier: Term) -> Term:
    """True if the log is completed before the barrier."""
    w = s.write_of(log)
    return both(published(s, w), s.completed(w) < barrier)


def stands_for(step: str) -> tuple[str, ...]:
    return tuple(f"{kind}_{step}" for kind in AUTHORS)
