"""The kinds of instants on the timeline, and the actors that have taken a completion time and not published it.

Formulas about times, listings and publications range over all kinds of a transition relation. A mechanism that
publishes instants adds its kind, and all these formulas then speak of its instants, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any, Final

from ..logic import Sort, Term, both, either, implies, no
from .state import COMPACTOR, LISTED, PLAN, READER, READY, TIMED, WRITE, published

Of = Callable[[Any, Term], Term]
"""(state, element) -> a truth value or a time."""


@dataclass(frozen=True)
class Instants:
    """One kind of instants. `noun` is the end of the names of the relations about readers: `there_write` is true for a
    write that was published when the listing began, and `kept_write` for a write that the reader uses.
    """

    sort: Sort
    noun: str
    begun: Of
    requested: Of
    done: Of
    completed: Of

    def there(self, s: Any, d: Term, x: Term) -> Term:
        return getattr(s, f"there_{self.noun}")(d, x)

    def kept(self, s: Any, d: Term, x: Term) -> Term:
        return getattr(s, f"kept_{self.noun}")(d, x)

    def done_by(self, s: Any, x: Term, t: Term) -> Term:
        """True if the instant is published and completed at or before t."""
        return both(self.done(s, x), self.completed(s, x) <= t)


@dataclass(frozen=True)
class Completing:
    """Actors (or writes) that have taken a completion time and not published it."""

    sort: Sort
    has_time: Of
    is_live: Of
    time: Of
    requested: Of


WRITES: Final = Instants(WRITE, "write", lambda s, w: s.phase(w) > 0, lambda s, w: s.requested(w), published,
                         lambda s, w: s.completed(w))  # fmt: skip
PLANS: Final = Instants(PLAN, "plan", lambda s, p: s.planned(p), lambda s, p: s.barrier(p), lambda s, p: s.done(p),
                        lambda s, p: s.compacted(p))  # fmt: skip
READY_WRITES: Final = Completing(
    WRITE, lambda s, w: s.phase(w) >= READY, lambda s, w: both(s.phase(w) == READY, no(s.dead_writer(w))),
    lambda s, w: s.completed(w), lambda s, w: s.requested(w),
)  # fmt: skip
"""A published write still has its completion time."""
TIMED_COMPACTORS: Final = Completing(
    COMPACTOR, lambda s, c: s.work(c) == TIMED, lambda s, c: both(s.work(c) == TIMED, no(s.dead_compactor(c))),
    lambda s, c: s.completing(c), lambda s, c: s.barrier(s.own_plan(c)),
)  # fmt: skip

Kinds = tuple[Instants, ...]


def settled_times(s: Any, kinds: Kinds, holds: Callable[[Term], Term]) -> Term:
    """True if `holds` returns true for every published completion time and for the read time of every reader."""
    return both(
        *(s.every(kind.sort, lambda x, kind=kind: implies(kind.done(s, x), holds(kind.completed(s, x))))
          for kind in kinds),
        s.every(READER, lambda d: implies(s.reading(d) >= LISTED, holds(s.reads_at(d)))),
    )  # fmt: skip


def newest_of_all(s: Any, kinds: Kinds, time: Term) -> Term:
    """True if the time is later than all published completion times and all requested times."""
    return both(*(
        s.every(kind.sort, lambda x, kind=kind: both(
            implies(kind.begun(s, x), kind.requested(s, x) < time),
            implies(kind.done(s, x), kind.completed(s, x) < time)))
        for kind in kinds
    ))  # fmt: skip


def differ(s: Any, kinds: Kinds, has: Callable[[Instants], Of], time: Callable[[Instants], Of]) -> Term:
    """True if no two instants that have such a time have an equal one."""
    return both(*_differ(s, kinds, has, time))


def _differ(s: Any, kinds: Kinds, has: Callable[[Instants], Of], time: Callable[[Instants], Of]) -> Iterator[Term]:
    for one, other in combinations_with_replacement(kinds, 2):
        yield s.every(one.sort, other.sort, lambda x, y, one=one, other=other: implies(
            both(has(one)(s, x), has(other)(s, y), time(one)(s, x) == time(other)(s, y)),
            x == y if one is other else False))  # fmt: skip


def no_request_is_a_completion(s: Any, kinds: Kinds, completing: tuple[Completing, ...]) -> Term:
    """True if no requested time is equal to a completion time, published or not."""
    return both(
        *(s.every(one.sort, other.sort, lambda x, y, one=one, other=other: implies(
            both(one.begun(s, x), other.done(s, y)), one.requested(s, x) != other.completed(s, y)))
          for one, other in product(kinds, kinds)),
        *(s.every(one.sort, other.sort, lambda x, y, one=one, other=other: implies(
            both(one.begun(s, x), other.has_time(s, y)), one.requested(s, x) != other.time(s, y)))
          for one, other in product(kinds, completing)),
    )  # fmt: skip


def published_in_order(s: Any, n: Any, kinds: Kinds) -> Term:
    """True if every instant that a step publishes has a greater completion time than all instants published earlier."""
    return both(*(
        s.every(one.sort, other.sort, lambda x, y, one=one, other=other: implies(
            both(one.done(n, x), no(one.done(s, x)), other.done(s, y)), other.completed(s, y) < one.completed(n, x)))
        for one, other in product(kinds, kinds)
    ))  # fmt: skip


def is_greatest(s: Any, shown: Kinds, among: tuple[Callable[[Term], Term], ...], t: Term) -> Term:
    """True if t is the greatest completion time of the instants that satisfy `among`, or 0 if there are none."""
    pairs = tuple(zip(shown, among, strict=True))
    return both(
        *(s.every(kind.sort, lambda x, kind=kind, has=has: implies(has(x), kind.completed(s, x) <= t))
          for kind, has in pairs),
        either(t == 0, *(s.some(kind.sort, lambda x, kind=kind, has=has: both(has(x), kind.completed(s, x) == t))
                         for kind, has in pairs)),
    )  # fmt: skip
