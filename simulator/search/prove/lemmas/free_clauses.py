"""The inductive invariant of commits without a lock: what authors know, what entries decide, and when it is published.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Any

from ..logic import Term, both, either, iff, implies, no
from ..system import Formula
from .entries import (
    ANNOUNCED,
    ASKS,
    AUTHOR,
    COMPLETIONS,
    DECIDED,
    LISTED,
    MOST_FAILURES,
    OFFERING,
    PLANS,
    WRITES,
    Asks,
    Contents,
    Items,
    TimedItems,
    has_begun_to_list,
    has_learnt,
    is_even,
    is_odd,
)
from .state import COMPACTOR, COMPLETING, DIED, IDLE, LOST, PLAN, PUBLISHED, READER, SCHEDULED, WRITE

OfAnnouncement = Callable[[Any, Term, Term, Items], Term]
"""(state, author, item, kind of the item) -> truth value, for the announcement that an actor has."""


def of_announcements(formula: OfAnnouncement, asks: tuple[Asks, ...] = ASKS) -> Formula:
    """Return the formula that is true if every actor with an announcement satisfies the given one."""
    return lambda s: both(*(
        s.every(each.sort, lambda y, each=each: implies(
            each.asking(s, y), formula(s, each.author(s, y), each.item(s, y), each.items)))
        for each in asks))  # fmt: skip


def is_deciding(s: Any, a: Term, x: Term, kind: Items) -> Term:
    return both(s.deciding(a) > 0, kind.announced(s, x))


def is_undecided(s: Any, a: Term, x: Term, kind: Items) -> Term:
    return implies(has_begun_to_list(s, a), no(kind.settled_by(s, x, s.learnt_tail(a))))


def is_in_later_listings(s: Any, a: Term, x: Term, kind: Items) -> Term:
    """An author that has learnt a later tail began its listing after the item was announced."""
    return implies(both(has_learnt(s, a), no(kind.settled(s, x))), s.every(AUTHOR, lambda b: implies(
        both(has_begun_to_list(s, b), s.learnt_tail(a) < s.learnt_tail(b)), kind.lists(s, b, x))))  # fmt: skip


def is_in_next_listings(s: Any, a: Term, x: Term, kind: Items) -> Term:
    """After one failure, every author that may still put the next entry lists the item."""
    return implies(both(s.failed(a) > 0, no(kind.settled(s, x))), s.every(AUTHOR, lambda b: implies(
        both(has_begun_to_list(s, b), s.learnt_tail(b) == s.tail()), kind.lists(s, b, x))))  # fmt: skip


def is_decided_after_failures(s: Any, a: Term, x: Term, kind: Items) -> Term:
    return both(
        implies(both(s.failed(a) > 0, has_learnt(s, a), s.learnt_tail(a) < s.tail()), kind.settled(s, x)),
        implies(s.failed(a) >= MOST_FAILURES, both(
            kind.settled(s, x), implies(has_learnt(s, a), kind.settled_by(s, x, s.learnt_tail(a))))),
    )  # fmt: skip


def is_bounded(s: Any, a: Term, x: Term, kind: Items) -> Term:
    return both(s.failed(a) >= 0, s.failed(a) <= MOST_FAILURES)


def times_differ(s: Any, commits: tuple[TimedItems, ...]) -> Term:
    return both(*(
        s.every(one.sort, other.sort, lambda x, y, one=one, other=other: implies(
            both(one.decided(s, x), other.decided(s, y), one.completed(s, x) == other.completed(s, y)),
            x == y if one is other else False))
        for one, other in combinations_with_replacement(commits, 2)
    ))  # fmt: skip


def of_two(s: Any, formula: Callable[..., Term], commits: tuple[TimedItems, ...]) -> Term:
    """True if the formula is true for all pairs of decided commits; its arguments are kind, commit, kind, commit."""
    return both(*(
        s.every(one.sort, other.sort, lambda x, y, one=one, other=other: implies(
            both(one.decided(s, x), other.decided(s, y)), formula(one, x, other, y)))
        for one, other in product(commits, commits)
    ))  # fmt: skip


def of_items(s: Any, formula: Callable[..., Term], kinds: tuple[Items, ...]) -> Term:
    """True if the formula is true for all items; its arguments are the kind and the item."""
    return both(*(s.every(kind.sort, lambda x, kind=kind: formula(kind, x)) for kind in kinds))


def clauses_of(contents: Contents) -> dict[str, Formula]:
    """Return the clauses about entries with the given contents."""
    return {**of_entries(contents), **of_times(contents), **of_actors(contents)}


def of_entries(contents: Contents) -> dict[str, Formula]:
    """Return the clauses about what entries decide, and what authors know of it."""
    of_all, of_commits = partial(of_items, kinds=contents.items), partial(of_items, kinds=contents.commits)
    return {
        "phases, works and readings are in range": lambda s: both(
            s.every(WRITE, lambda w: both(s.phase(w) >= IDLE, s.phase(w) <= PUBLISHED)),
            s.every(COMPACTOR, lambda c: both(s.work(c) >= IDLE, s.work(c) <= OFFERING)),
            s.every(READER, lambda d: both(s.reading(d) >= DIED, s.reading(d) <= LOST)),
            s.every(AUTHOR, lambda a: both(s.deciding(a) >= 0, s.deciding(a) <= LISTED)),
            s.tail() >= 0, s.reserved() >= 0,
        ),
        "clocks return even times, and entries give odd ones": lambda s: both(
            s.every(WRITE, lambda w: implies(s.phase(w) > IDLE, both(s.requested(w) > 0, is_even(s.requested(w))))),
            s.every(PLAN, lambda p: implies(s.offered(p), both(s.barrier(p) > 0, is_odd(s.barrier(p))))),
            of_commits(s, lambda kind, x: implies(kind.decided(s, x), is_odd(kind.completed(s, x)))),
            either(s.reserved() == 0, is_odd(s.reserved())),
            s.every(AUTHOR, lambda a: implies(has_learnt(s, a), either(
                s.learnt_reserved(a) == 0, is_odd(s.learnt_reserved(a))))),
        ),
        "a write is decided after its announcement, and published after its decision": lambda s: s.every(
            WRITE, lambda w: both(
                iff(WRITES.decided(s, w), s.phase(w) >= DECIDED), implies(s.returned(w), s.phase(w) == PUBLISHED))),
        "a plan is decided after its announcement, and published after its decision": lambda s: s.every(
            PLAN, lambda p: both(
                implies(PLANS.decided(s, p), s.offered(p)),
                implies(s.planned(p), PLANS.decided(s, p)),
                implies(s.finished(p), s.planned(p)),
                implies(COMPLETIONS.decided(s, p), s.finished(p)),
                implies(s.done(p), COMPLETIONS.decided(s, p)))),
        "no item names an entry after the tail": lambda s: of_all(s, lambda kind, x: both(
            kind.entry(s, x) >= 0, kind.entry(s, x) <= s.tail())),
        "everything that an entry before the last one decides is published": lambda s: of_all(
            s, lambda kind, x: implies(both(kind.decided(s, x), kind.entry(s, x) < s.tail()), kind.published(s, x))),
        "an author that lists has found the entries that it knows published": lambda s: s.every(
            AUTHOR, lambda a: implies(has_begun_to_list(s, a), of_all(s, lambda kind, x: implies(
                kind.decided_by(s, x, s.learnt_tail(a)), kind.published(s, x))))),
        "an author lists announcements that no entry which it knows decides": lambda s: s.every(
            AUTHOR, lambda a: implies(has_begun_to_list(s, a), of_all(s, lambda kind, x: implies(
                kind.lists(s, a, x), both(kind.announced(s, x), no(kind.settled_by(s, x, s.learnt_tail(a)))))))),
        "an author has learnt no later tail than the last entry": lambda s: s.every(AUTHOR, lambda a: implies(
            has_learnt(s, a), both(
                s.learnt_tail(a) >= 0, s.learnt_tail(a) <= s.tail(), s.learnt_reserved(a) <= s.reserved(),
                implies(s.learnt_tail(a) == s.tail(), s.learnt_reserved(a) == s.reserved())))),
    }  # fmt: skip


def of_times(contents: Contents) -> dict[str, Formula]:
    """Return the clauses about the times that entries give."""
    of_commits, of_pairs = partial(of_items, kinds=contents.commits), partial(of_two, commits=contents.commits)
    return {
        "a completion time is between the requested time and the time that its entry reserves": lambda s: of_commits(
            s, lambda kind, x: implies(kind.decided(s, x), both(
                kind.requested(s, x) < kind.completed(s, x), kind.completed(s, x) < s.reserved()))),
        "a learnt reserved time is after the commits of the learnt entries, and before those of later entries":
            lambda s: s.every(AUTHOR, lambda a: implies(has_learnt(s, a), of_commits(s, lambda kind, x: implies(
                kind.decided(s, x), both(
                    kind.completed(s, x) != s.learnt_reserved(a),
                    iff(kind.completed(s, x) < s.learnt_reserved(a), kind.entry(s, x) <= s.learnt_tail(a))))))),
        "a later entry gives later times": lambda s: of_pairs(s, lambda one, x, other, y: implies(
            one.entry(s, x) < other.entry(s, y), one.completed(s, x) < other.completed(s, y))),
        "an entry gives times in the order of requests": lambda s: of_pairs(s, lambda one, x, other, y: implies(
            both(one.entry(s, x) == other.entry(s, y), one.requested(s, x) < other.requested(s, y)),
            one.completed(s, x) < other.completed(s, y))),
        "the times that entries give are distinct": lambda s: times_differ(s, contents.commits),
        "commits are published in the order of their times": lambda s: of_pairs(s, lambda one, x, other, y: implies(
            both(other.published(s, y), one.completed(s, x) < other.completed(s, y)), one.published(s, x))),
    }  # fmt: skip


def of_actors(contents: Contents) -> dict[str, Formula]:
    """Return the clauses about announcements, and about actors that wait for the decision of theirs."""
    asks, of_commits = contents.asks, partial(of_items, kinds=contents.commits)
    return {
        "an actor with an announcement decides": of_announcements(is_deciding, asks),
        "an author that puts an entry knows no decision about its own announcement": of_announcements(
            is_undecided, asks),
        "an announcement is in the listings of all authors that have learnt a later tail": of_announcements(
            is_in_later_listings, asks),
        "after one failure an announcement is in the listings of all authors of the next entry": of_announcements(
            is_in_next_listings, asks),
        "after two failures an announcement is decided": of_announcements(is_decided_after_failures, asks),
        "an author fails twice at most": of_announcements(is_bounded, asks),
        "a dead author does nothing": lambda s: both(
            s.every(AUTHOR, lambda a: implies(s.dead_author(a), s.deciding(a) == 0)),
            s.every(COMPACTOR, lambda c: implies(s.dead_author(s.compacts_as(c)), s.work(c) == IDLE))),
        "an author has one announcement at a time": lambda s: both(
            s.every(WRITE, WRITE, lambda w, v: implies(both(s.earlier(w, v), s.phase(v) > IDLE), s.returned(w))),
            s.every(WRITE, lambda w: implies(
                both(s.phase(w) > IDLE, s.phase(w) < ANNOUNCED), s.deciding(s.writes_as(w)) == 0))),
        "a compactor runs a plan that exists": lambda s: s.every(COMPACTOR, lambda c: both(
            implies(both(s.work(c) >= SCHEDULED, s.work(c) <= COMPLETING), s.planned(s.own_plan(c))),
            implies(both(s.work(c) > IDLE, s.work(c) < COMPLETING), both(
                no(s.finished(s.own_plan(c))), s.deciding(s.compacts_as(c)) == 0)),
            implies(s.work(c) == OFFERING, no(s.finished(s.own_plan(c)))),
            implies(s.work(c) == IDLE, no(has_begun_to_list(s, s.compacts_as(c)))))),
        "a compactor ends its plan before it makes the next one": lambda s: s.every(
            PLAN, COMPACTOR, lambda p, c: implies(s.offered(p), both(
                either(s.done(p), both(s.own_plan(c) == p, s.work(c) > IDLE), s.dead_author(s.compacts_as(c))),
                implies(both(s.work(c) == IDLE, has_learnt(s, s.compacts_as(c))), COMPLETIONS.decided_by(
                    s, p, s.learnt_tail(s.compacts_as(c))))))),
        "what completed before a barrier is published": lambda s: s.every(PLAN, lambda p: implies(s.offered(p), both(
            s.barrier(p) <= s.reserved(), of_commits(s, lambda kind, x: implies(kind.decided(s, x), both(
                kind.completed(s, x) != s.barrier(p),
                implies(kind.completed(s, x) < s.barrier(p), kind.published(s, x)))))))),
        "the barriers of announced plans are distinct": lambda s: s.every(PLAN, PLAN, lambda p, q: implies(
            both(s.offered(p), s.offered(q), s.barrier(p) == s.barrier(q)), p == q)),
        "a plan that is announced later has a later barrier": lambda s: s.every(PLAN, PLAN, lambda p, q: implies(
            both(s.offered(p), no(s.done(p)), s.offered(q), p != q), both(s.done(q), s.compacted(q) < s.barrier(p)))),
    }  # fmt: skip
