"""The state of commits without a lock: announcements, numbered entries that decide them, and the authors of entries.

An actor announces what it wants to commit. An entry of the decision log decides every announcement that its author has
listed. Each entry gives its commits increasing times, and reserves a later time. A plan that is made from the entries
up to one of them has the reserved time of this entry as its barrier. The clocks of writers return even times, and
entries give odd ones, so that no requested time is a completion time or a barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..logic import Relation, Sort, Term, both, either, implies, no
from .state import COMPACTOR, COMPLETING, PLAN, PUBLISHED, TIMED, WRITE

AUTHOR: Final = Sort("Author")
"""Actors that put entries: writers and compactors."""
ANNOUNCED, DECIDED = 3, 4
"""Phases of a write after its data phase. `DECIDED`: an entry gives it a completion time, and it is not published."""
OFFERING: Final = TIMED
"""The work of a compactor whose plan is announced and not on the timeline."""
LEARNS, LEARNT, LISTS, LISTED = 1, 2, 3, 4
"""What an author is doing. It is about to learn the tail; it has learnt the tail, and publishes what the last entry
decides; it lists the announcements; it has listed them, and is about to put the next entry. 0: nothing.
"""
MOST_FAILURES: Final = 2
"""How often an author finds its number taken, at most, before its announcement is decided."""

RELATIONS: Final = (
    Relation("writes_as", (WRITE,), AUTHOR, fixed=True),
    Relation("compacts_as", (COMPACTOR,), AUTHOR, fixed=True),
    Relation("tail", (), "time"),  # the number of the last entry
    Relation("reserved", (), "time"),  # the time that the last entry reserves
    Relation("dead_author", (AUTHOR,)),
    Relation("deciding", (AUTHOR,), "time"),
    Relation("learnt_tail", (AUTHOR,), "time"),
    Relation("learnt_reserved", (AUTHOR,), "time"),  # the time that the entry of that number reserves
    Relation("failed", (AUTHOR,), "time"),  # how often its number was taken since it announced
    Relation("entry_of_write", (WRITE,), "time"),  # the number of the entry that decides the write; 0: undecided
    Relation("lists_write", (AUTHOR, WRITE)),
    Relation("returned", (WRITE,)),  # the writer has returned
    Relation("finished", (PLAN,)),  # the completion of the plan is announced
    Relation("entry_of_completion", (PLAN,), "time"),
    Relation("lists_completion", (AUTHOR, PLAN)),
    Relation("offered", (PLAN,)),  # the plan is announced
    Relation("entry_of_plan", (PLAN,), "time"),
    Relation("lists_plan", (AUTHOR, PLAN)),
)

Of = Callable[[Any, Term], Term]


@dataclass(frozen=True)
class Items:
    """One kind of what an entry decides. `noun` is the end of the names of its relations `entry_of_` and `lists_`."""

    sort: Sort
    noun: str
    requested: Of
    announced: Of
    published: Of
    refuted: Callable[[Any, Term, Term], Term] = lambda s, a, x: False
    """True if the author a finds that an entry has decided the opposite of the item."""
    opposite: Of = lambda s, x: 0
    """The number of the first entry that decides the opposite of the item; 0: none does."""
    yields: Callable[[Any, Term, Term], Term] = lambda s, a, x: False
    """True if an entry of the author a leaves out the item that it has listed, because it decides the opposite."""

    def entry(self, s: Any, x: Term) -> Term:
        return getattr(s, f"entry_of_{self.noun}")(x)

    def lists(self, s: Any, a: Term, x: Term) -> Term:
        return getattr(s, f"lists_{self.noun}")(a, x)

    def decided(self, s: Any, x: Term) -> Term:
        return self.entry(s, x) > 0

    def decided_by(self, s: Any, x: Term, number: Term) -> Term:
        """True if an entry up to the given number decides the item."""
        return both(self.decided(s, x), self.entry(s, x) <= number)

    def excluded_by(self, s: Any, x: Term, number: Term) -> Term:
        """True if an entry up to the given number decides the opposite of the item."""
        return both(self.opposite(s, x) > 0, self.opposite(s, x) <= number)

    def settled(self, s: Any, x: Term) -> Term:
        """True if an entry decides the item or its opposite."""
        return either(self.decided(s, x), self.opposite(s, x) > 0)

    def settled_by(self, s: Any, x: Term, number: Term) -> Term:
        return either(self.decided_by(s, x, number), self.excluded_by(s, x, number))

    def is_open(self, s: Any, a: Term, x: Term) -> Term:
        """True if the item is announced, not on the timeline, and the author a knows no opposite decision."""
        return both(self.announced(s, x), no(self.published(s, x)), no(self.refuted(s, a, x)))

    def chosen(self, s: Any, a: Term, x: Term) -> Term:
        """True if the next entry of the author a decides the item."""
        return both(self.lists(s, a, x), no(self.yields(s, a, x)))


@dataclass(frozen=True)
class TimedItems(Items):
    """Items that an entry gives a completion time. `time` is the name of the relation of that time."""

    time: str = ""

    def completed(self, s: Any, x: Term) -> Term:
        return getattr(s, self.time)(x)


WRITES: Final = TimedItems(
    WRITE, "write", lambda s, w: s.requested(w), lambda s, w: s.phase(w) >= ANNOUNCED,
    lambda s, w: s.phase(w) == PUBLISHED, time="completed",
)  # fmt: skip
COMPLETIONS: Final = TimedItems(
    PLAN, "completion", lambda s, p: s.barrier(p), lambda s, p: s.finished(p), lambda s, p: s.done(p), time="compacted",
)  # fmt: skip
PLANS: Final = Items(
    PLAN, "plan", lambda s, p: s.barrier(p), lambda s, p: s.offered(p), lambda s, p: s.planned(p),
)  # fmt: skip
COMMITS: Final = (WRITES, COMPLETIONS)


@dataclass(frozen=True)
class Asks:
    """Live actors with an announcement of their own. `asking` is true until the actor has found its item published."""

    sort: Sort
    items: Items
    author: Of
    item: Of
    asking: Of


ASKS: Final = (
    Asks(WRITE, WRITES, lambda s, w: s.writes_as(w), lambda s, w: w,
         lambda s, w: both(s.phase(w) >= ANNOUNCED, no(s.returned(w)), no(s.dead_author(s.writes_as(w))))),
    Asks(COMPACTOR, COMPLETIONS, lambda s, c: s.compacts_as(c), lambda s, c: s.own_plan(c),
         lambda s, c: s.work(c) == COMPLETING),
    Asks(COMPACTOR, PLANS, lambda s, c: s.compacts_as(c), lambda s, c: s.own_plan(c),
         lambda s, c: s.work(c) == OFFERING),
)  # fmt: skip


@dataclass(frozen=True)
class Contents:
    """What the entries of a log decide, and the actors that announce it."""

    commits: tuple[TimedItems, ...] = COMMITS
    plans: tuple[Items, ...] = (PLANS,)
    asks: tuple[Asks, ...] = ASKS

    @property
    def items(self) -> tuple[Items, ...]:
        return (*self.commits, *self.plans)

    def is_published(self, s: Any, number: Term) -> Term:
        """True if everything that the entries up to the given number decide is on the timeline."""
        return both(*(
            s.every(kind.sort, lambda x, kind=kind: implies(kind.decided_by(s, x, number), kind.published(s, x)))
            for kind in self.items
        ))  # fmt: skip


def has_learnt(s: Any, a: Term) -> Term:
    """True if the author has learnt a tail since it announced or failed."""
    return both(s.deciding(a) >= LEARNT, s.deciding(a) <= LISTED)


def has_begun_to_list(s: Any, a: Term) -> Term:
    return both(s.deciding(a) >= LISTS, s.deciding(a) <= LISTED)


def is_odd(time: Term) -> Term:
    """True for times that entries give."""
    return time % 2 == 1


def is_even(time: Term) -> Term:
    """True for times that clocks return."""
    return time % 2 == 0


def odd_after(time: Term) -> Term:
    return time + 1 + time % 2


def even_after(time: Term) -> Term:
    return time + 2 - time % 2
