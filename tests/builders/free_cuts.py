"""The cut of the log of commits without a lock: entries below a boundary are deleted, and an author that paused may
create one of their numbers again.

The boundary advances before an entry is deleted. An author reads the boundary after it has created an entry, and
publishes nothing of an entry that the boundary has passed. Such an entry is void, or it decides as any other. Its
author does not know which, and learns the tail again. No test compares this relation with
the cutter of the model yet, so that `nbcc prove` does not list it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from nbcc.simulator.search.prove.lemmas.entries import (
    AUTHOR,
    LEARNS,
    LEARNT,
    LISTED,
    MOST_FAILURES,
    Items,
    has_begun_to_list,
)
from nbcc.simulator.search.prove.lemmas.free_clauses import of_announcements
from nbcc.simulator.search.prove.lemmas.free_commits import CRASHES, FreeCommits
from nbcc.simulator.search.prove.lemmas.state import COMPACTOR, WRITE
from nbcc.simulator.search.prove.logic import Relation, Term, Update, at, both, choose, either, implies, no
from nbcc.simulator.search.prove.system import Claim, Formula, Move, NewTimes

CUTS: Final = (
    Relation("boundary", (), "time"),  # entries up to this number may be deleted
    Relation("cut", (), "time"),  # entries up to this number are deleted
    Relation("created", (AUTHOR,), "time"),  # the number that the author has created, and has not checked; 0: none
    Relation("void", (AUTHOR,)),  # this number had been deleted before
)


AUTHOR_OF: Final[Mapping[Any, Callable[[Any, Term], Term]]] = {
    AUTHOR: lambda s, a: a, WRITE: lambda s, w: s.writes_as(w), COMPACTOR: lambda s, c: s.compacts_as(c),
}  # fmt: skip
"""The sort of an action's first parameter -> as which author it acts."""


class FreeCuts(FreeCommits):
    """Commits without a lock, with a log that is cut."""

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *CUTS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.boundary() == 0, s.cut() == 0,
            s.every(AUTHOR, lambda a: both(no(s.void(a)), s.created(a) == 0)))  # fmt: skip

    def put(self, s: Any, a: Term, times: NewTimes) -> dict[str, Update]:
        return {**super().put(s, a, times), "created": at(s.created, a, to=s.tail() + 1)}

    def actions(self) -> tuple[Move, ...]:
        def waits_for_check(action: Move) -> Move:
            author = AUTHOR_OF.get(action.parameters[0])
            if action.name == CRASHES:
                return action.extend(None, checked)
            return action if author is None else action.extend(lambda s, x, *_: s.created(author(s, x)) == 0)

        return (*map(waits_for_check, super().actions()), *self.checking(), *self.cutting())

    def checking(self) -> tuple[Move, ...]:
        """Return the actions by which an author creates a deleted number again, and by which it reads the boundary."""
        return (
            Move(
                "author puts void entry", (AUTHOR,),
                lambda s, a: both(s.deciding(a) == LISTED, s.created(a) == 0, s.learnt_tail(a) + 1 <= s.cut()),
                lambda s, a: {
                    **self.forgets_listing(s, a), "deciding": at(s.deciding, a, to=LEARNS),
                    "failed": at(s.failed, a, to=s.failed(a) + 1),
                    "created": at(s.created, a, to=s.learnt_tail(a) + 1), "void": at(s.void, a, to=True),
                },
            ),
            Move(
                "author finds its entry above the boundary", (AUTHOR,),
                lambda s, a: both(s.created(a) > 0, self.trusts(s, a)),
                lambda s, a: {**checked(s, a), "deciding": at(s.deciding, a, to=LEARNT)},
            ),
            Move(
                "author finds its entry below the boundary", (AUTHOR,),
                lambda s, a: both(s.created(a) > 0, no(self.trusts(s, a))),
                lambda s, a: {
                    **checked(s, a), "deciding": at(s.deciding, a, to=LEARNS),
                    "failed": at(s.failed, a, to=s.failed(a) + self.counts(s, a)),
                },
            ),
        )  # fmt: skip

    def counts(self, s: Any, a: Term) -> Term:
        """A void entry is counted as a failure when it is created, and any other that its author cannot trust now."""
        return choose(s.void(a), 0, 1)

    def trusts(self, s: Any, a: Term) -> Term:
        """True if the author takes the entry that it has created for valid."""
        return s.created(a) > s.boundary()

    def cutting(self) -> tuple[Move, ...]:
        return (
            Move(
                "cutter advances boundary", ("time",), lambda s, n: both(s.boundary() < n, n < s.tail()),
                lambda s, n: {"boundary": lambda: n},
            ),
            Move(
                "cutter deletes entries", ("time",), self.may_delete, lambda s, n: {"cut": lambda: n},
            ),
        )  # fmt: skip

    def may_delete(self, s: Any, n: Term) -> Term:
        """True if the entries up to the given number may be deleted."""
        return both(s.cut() < n, n <= s.boundary())

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "nothing above the boundary is deleted, and the last entry is above it": lambda s: both(
                s.cut() >= 0, s.cut() <= s.boundary(), either(s.boundary() == 0, s.boundary() < s.tail())),
            "an author reads the boundary after it has created an entry": lambda s: s.every(AUTHOR, lambda a: both(
                s.created(a) >= 0,
                implies(s.void(a), both(s.created(a) > 0, s.created(a) <= s.cut(), s.deciding(a) == LEARNS)),
                implies(both(s.created(a) > 0, no(s.void(a))), s.deciding(a) == LEARNT))),
            "an author lists its own announcement, until it is decided": of_announcements(lists_its_own),
            "an entry decides the announcement of its author": of_announcements(decides_its_own),
        }  # fmt: skip

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("ACK", "no author publishes a void entry", None, self.publishes_no_void_entry),
        )

    def publishes_no_void_entry(self, s: Any, n: Any) -> Term:
        """True if the step lets no author go on with a void entry."""
        return s.every(AUTHOR, lambda a: implies(both(s.void(a), n.deciding(a) == LEARNT), n.void(a)))


def checked(s: Any, a: Term) -> Mapping[str, Update]:
    return {"created": at(s.created, a, to=0), "void": at(s.void, a, to=False)}


def lists_its_own(s: Any, a: Term, x: Term, kind: Items) -> Term:
    return implies(has_begun_to_list(s, a), either(kind.lists(s, a, x), kind.decided(s, x)))


def decides_its_own(s: Any, a: Term, x: Term, kind: Items) -> Term:
    return implies(both(s.created(a) > 0, no(s.void(a))), both(kind.decided(s, x), s.failed(a) < MOST_FAILURES))
