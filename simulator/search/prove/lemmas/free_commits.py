"""Commits without a lock, for any number of writers, plans and entries.

An author learns the tail of the log, publishes what the last entry decides, lists the announcements, and puts the next
entry if no other author has. The entry decides all that is announced and undecided. An author that finds its number
taken learns the tail again; it does so twice at most. Every request is a step of its own. An actor may crash between
any two steps. No other actor waits for it, and another one may decide and publish what it has announced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from nbcc.model.mechanisms.announcements.author import COMPACTOR_FINDS_DECIDED, WRITER_FINDS_DECIDED
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES

from ..logic import Relation, Term, Update, at, both, choose, either, implies, no
from ..system import Claim, Formula, Move
from . import options
from .authors import Authors
from .entries import (
    ANNOUNCED,
    AUTHOR,
    COMPLETIONS,
    LEARNS,
    LEARNT,
    LISTED,
    LISTS,
    OFFERING,
    PLANS,
    RELATIONS,
    WRITES,
    Contents,
    Items,
    even_after,
    is_even,
)
from .free_clauses import clauses_of
from .instants import Completing
from .numbers import KEPT_CLAUSES
from .state import (
    COMPACTOR,
    COMPLETING,
    GROUP,
    IDLE,
    PLAN,
    REQUESTED,
    RUNNING,
    SCHEDULED,
    WRITE,
    WRITING,
    all_bases_written,
    all_stored,
    takes_up,
)  # fmt: skip


@dataclass(frozen=True)
class FreeOptions(options.CoreOptions):
    """The model options that affect commits without a lock, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier"] = "completed_before_barrier"
    read_time: Literal["settled"] = "settled"
    decision: Literal["free"] = "free"

    @property
    def any_clock(self) -> bool:
        """Whether a writer requests any time that no other writer has; otherwise the next even time, as in the model.
        """
        return self.any_plan


CRASHES: Final = "author crashes"
UNDECIDED: Final = (
    "an author lists announcements that no entry which it knows decides", "no item names an entry after the tail",
)  # fmt: skip
"""The clauses that imply that an item is decided once."""


class FreeCommits(Authors):
    """The core transition relation, in which entries of a log decide commits and plans, and no actor takes a lock."""

    options: FreeOptions
    completing = tuple(
        Completing(kind.sort, kind.decided, kind.decided, kind.completed, kind.requested) for kind in Contents().commits
    )

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *RELATIONS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.tail() == 0, s.reserved() == 0,
            s.every(AUTHOR, lambda a: both(no(s.dead_author(a)), s.deciding(a) == 0, s.failed(a) == 0)),
            s.every(WRITE, lambda w: both(s.entry_of_write(w) == 0, no(s.returned(w)))),
            s.every(PLAN, lambda p: both(
                s.entry_of_completion(p) == 0, s.entry_of_plan(p) == 0, no(s.finished(p)), no(s.offered(p)))),
        )  # fmt: skip

    def background(self) -> dict[str, Formula]:
        return {
            "there is one compactor, and it is not a writer": lambda s: both(
                s.every(COMPACTOR, COMPACTOR, lambda c, b: c == b),
                s.every(WRITE, COMPACTOR, lambda w, c: s.writes_as(w) != s.compacts_as(c))),
            "the writes of a writer are in an order": lambda s: s.every(WRITE, WRITE, lambda w, v: implies(
                s.writes_as(w) == s.writes_as(v), either(w == v, s.earlier(w, v), s.earlier(v, w)))),
        }  # fmt: skip

    def lock_is_free(self, s: Any) -> Term:
        """No actor takes a lock."""
        return True

    def is_over(self, s: Any, w: Term) -> Term:
        return s.returned(w)

    def actions(self) -> tuple[Move, ...]:
        return (*self.writers(), *self.authors(), self.crashes(), *self.compactors(), *self.readers())

    def can_write(self, s: Any, w: Term, phase: int) -> Term:
        return both(super().can_write(s, w, phase), no(s.dead_author(s.writes_as(w))))

    def crashes(self) -> Move:
        """Return the action by which an author crashes during an operation."""

        def is_busy(s: Any, a: Term) -> Term:
            return either(
                s.some(WRITE, lambda w: both(s.writes_as(w) == a, s.phase(w) > IDLE, no(s.returned(w)))),
                s.some(COMPACTOR, lambda c: both(s.compacts_as(c) == a, s.work(c) > IDLE)), s.deciding(a) > 0,
            )  # fmt: skip

        return Move(
            CRASHES, (AUTHOR,), lambda s, a: both(no(s.dead_author(a)), is_busy(s, a)),
            lambda s, a: {
                **ends(s, a), **self.forgets_listing(s, a), "dead_author": at(s.dead_author, a, to=True),
                "work": lambda c: choose(s.compacts_as(c) == a, IDLE, s.work(c)),
            },
            (ACTOR_CRASHES,),
        )  # fmt: skip

    def writers(self) -> tuple[Move, ...]:
        same = [action for action in self.writing() if action.name != "writer requests instant"]
        return (
            self.requests(), *same,
            Move(
                "writer announces", (WRITE,), lambda s, w: both(self.can_write(s, w, WRITING), all_stored(s, w)),
                lambda s, w: {"phase": at(s.phase, w, to=ANNOUNCED), **begins(s, s.writes_as(w))},
            ),
            Move(
                "writer finds its write published", (WRITE,),
                lambda s, w: both(no(s.returned(w)), self.finds_published(s, s.writes_as(w), w, WRITES)),
                lambda s, w: {"returned": at(s.returned, w, to=True), **ends(s, s.writes_as(w))},
                (WRITER_FINDS_DECIDED,),
            ),
        )  # fmt: skip

    def requests(self) -> Move:
        """Return the action by which a writer puts its requested instant, if no other write has the same time."""

        def is_next_write(s: Any, w: Term) -> Term:
            return both(
                self.can_write(s, w, IDLE), s.deciding(s.writes_as(w)) == 0,
                s.every(WRITE, lambda v: implies(s.earlier(v, w), self.is_over(s, v))),
            )

        def puts(s: Any, w: Term, t: Term) -> dict[str, Update]:
            return {
                "requested": at(s.requested, w, to=t), "phase": at(s.phase, w, to=REQUESTED),
                "clock": lambda: choose(s.clock() > t, s.clock(), t),
            }  # fmt: skip

        name = "writer requests instant"
        if self.options.any_clock:
            return Move(name, (WRITE, "time"), lambda s, w, t: both(
                t > 0, is_even(t), is_next_write(s, w), self.is_absent(s, t)), puts)  # fmt: skip
        return Move(name, (WRITE,), is_next_write, lambda s, w: puts(s, w, even_after(s.clock())))

    def is_absent(self, s: Any, t: Term) -> Term:
        """True if no instant has the requested time."""
        return s.every(WRITE, lambda v: implies(s.phase(v) > IDLE, s.requested(v) != t))

    def compactors(self) -> tuple[Move, ...]:
        core_actions = {action.name: action for action in super().compactors()}
        same = ("compactor starts plan", "compactor writes base")
        return (*self.planning(), *(core_actions[name] for name in same), *self.completing_compactions())

    def planning(self) -> tuple[Move, ...]:
        """Return the actions by which a compactor makes a plan from the entries that it knows, and announces it. Its
        barrier is the time that the last of these entries reserves.
        """
        def has_logs(s: Any, barrier: Term) -> Term:
            return s.some(GROUP, lambda g: self.new_part_at(s, g, barrier))

        return (
            Move(
                "compactor begins plan", (COMPACTOR,),
                lambda s, c: both(s.work(c) == IDLE, s.deciding(author(s, c)) == 0, no(s.dead_author(author(s, c))),
                                  has_logs(s, s.reserved())),
                lambda s, c: self.learns(s, author(s, c)),
            ),
            Move(
                "compactor schedules plan", (COMPACTOR, PLAN),
                lambda s, c, p: both(
                    s.work(c) == IDLE, s.deciding(author(s, c)) == LEARNT, no(s.offered(p)),
                    s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.offered(q))),
                    self.contents.is_published(s, s.learnt_tail(author(s, c))),
                    has_logs(s, s.learnt_reserved(author(s, c)))),
                lambda s, c, p: {
                    "offered": at(s.offered, p, to=True),
                    "barrier": at(s.barrier, p, to=s.learnt_reserved(author(s, c))),
                    "own_plan": at(s.own_plan, c, to=p), "work": at(s.work, c, to=OFFERING),
                    "runner": at(s.runner, p, to=c),
                    **begins(s, author(s, c)),
                },
            ),
            Move(
                "compactor finds its plan published", (COMPACTOR,),
                lambda s, c: both(
                    s.work(c) == OFFERING, self.finds_published(s, author(s, c), s.own_plan(c), PLANS)),
                lambda s, c: {
                    **takes_up(s, c, s.own_plan(c), SCHEDULED), **ends(s, author(s, c)),
                },
                (COMPACTOR_FINDS_DECIDED,),
            ),
        )  # fmt: skip

    def completing_compactions(self) -> tuple[Move, ...]:
        return (
            Move(
                "compactor announces", (COMPACTOR,),
                lambda s, c: both(s.work(c) == RUNNING, all_bases_written(s, c)),
                lambda s, c: {
                    "finished": at(s.finished, s.own_plan(c), to=True), "work": at(s.work, c, to=COMPLETING),
                    **begins(s, author(s, c)),
                },
            ),
            Move(
                "compactor finds its compaction published", (COMPACTOR,),
                lambda s, c: both(
                    s.work(c) == COMPLETING, self.finds_published(s, author(s, c), s.own_plan(c), COMPLETIONS)),
                lambda s, c: {"work": at(s.work, c, to=IDLE), **ends(s, author(s, c))},
                (COMPACTOR_FINDS_DECIDED,),
            ),
        )  # fmt: skip

    def free(self, s: Any) -> Term:
        """True if every live writer that has stored its logs can take a step, until it has found its write published.
        """
        actions = {action.name: action for action in (*self.writers(), *self.authors())}
        alone = ("author learns tail", "author starts listing announcements", "author finds its number taken")

        def can_act(w: Term) -> Term:
            a = s.writes_as(w)
            return either(
                s.phase(w) == WRITING,
                *(action.guard(s, w) for name, action in actions.items() if name.startswith("writer finds")),
                *(actions[name].guard(s, a) for name in alone),
                # An entry is finite, so that one of its unpublished items is the next one.
                both(s.deciding(a) == LEARNT, no(self.contents.is_published(s, s.learnt_tail(a)))),
                s.deciding(a) == LISTS,
                both(s.deciding(a) == LISTED, s.learnt_tail(a) == s.tail()),
            )

        return s.every(WRITE, lambda w: implies(
            both(s.phase(w) >= WRITING, no(s.returned(w)), all_stored(s, w), no(s.dead_author(s.writes_as(w)))),
            can_act(w)))  # fmt: skip

    def clauses(self) -> dict[str, Formula]:
        kept = super().clauses()
        return {name: kept[name] for name in KEPT_CLAUSES} | clauses_of(self.contents)

    def common(self) -> frozenset[str]:
        return frozenset(self.clauses())

    def claims(self) -> tuple[Claim, ...]:
        bounded = self.clauses()["an author fails twice at most"]
        return (
            *super().claims(),
            Claim("ACK", "an entry decides what no earlier entry decides, and a decision never changes", None,
                  self.decided_once, UNDECIDED),
            Claim("BOUNDED", "an author fails twice at most before its announcement is decided", bounded,
                  by=("an author fails twice at most",)),
        )  # fmt: skip

    def has_caught_up(self, s: Any, a: Term) -> Term:
        """True if the author has learnt the tail, and everything that the entries decide which it knows is published.
        """
        return both(s.deciding(a) == LEARNT, self.contents.is_published(s, s.learnt_tail(a)))

    def finds_published(self, s: Any, a: Term, x: Term, kind: Items) -> Term:
        """True if the item is on the timeline, and so is everything that the entries decide which the author knows."""
        return both(
            kind.published(s, x), either(s.deciding(a) == LEARNS, self.has_caught_up(s, a)),
        )  # fmt: skip

    def decided_once(self, s: Any, n: Any) -> Term:
        """True if the step changes no decision: a decided item keeps its entry, and a decided commit its time."""
        return both(
            *(s.every(kind.sort, lambda x, kind=kind: implies(kind.decided(s, x), kind.entry(n, x) == kind.entry(s, x)))
              for kind in self.contents.items),
            *(s.every(kind.sort, lambda x, kind=kind: implies(
                kind.decided(s, x), kind.completed(n, x) == kind.completed(s, x))) for kind in self.contents.commits),
        )  # fmt: skip



def author(s: Any, c: Term) -> Term:
    """Return the author as which a compactor puts entries."""
    return s.compacts_as(c)


def begins(s: Any, a: Term) -> dict[str, Update]:
    """Return the state updates for an author that has announced something."""
    return {**forgets(s, a), "deciding": at(s.deciding, a, to=LEARNS)}


def ends(s: Any, a: Term) -> dict[str, Update]:
    """Return the state updates for an author that has found its item published."""
    return {**forgets(s, a), "deciding": at(s.deciding, a, to=0)}


def forgets(s: Any, a: Term) -> dict[str, Update]:
    return {name: at(getattr(s, name), a, to=0) for name in ("learnt_tail", "learnt_reserved", "failed")}
