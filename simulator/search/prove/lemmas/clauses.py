"""The inductive invariant of the core transition relation: a dictionary from each clause's wording to its formula.

`CLAUSES` are about writers and compactors. The clauses about times and listings range over all kinds of instants, so
that each mechanism states them for its own kinds, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..logic import Term, both, either, iff, implies, no
from .instants import Completing, Kinds, differ, newest_of_all, no_request_is_a_completion
from .state import (
    COMPACTOR,
    COMPLETING,
    DIED,
    GROUP,
    IDLE,
    LISTED,
    LISTING_AGAIN,
    LOCKED,
    LOG,
    LOST,
    PLAN,
    PUBLISHED,
    READER,
    SURE,
    TIMED,
    WRITE,
    has_base,
    published,
)  # fmt: skip

CLAUSES: Final[Mapping[str, Callable[[Any], Term]]] = {
    "phases, works and readings are in range": lambda s: both(
        s.every(WRITE, lambda w: both(s.phase(w) >= IDLE, s.phase(w) <= PUBLISHED)),
        s.every(COMPACTOR, lambda c: both(s.work(c) >= IDLE, s.work(c) <= TIMED)),
        s.every(READER, lambda d: both(s.reading(d) >= DIED, s.reading(d) <= LOST)),
        s.clock() >= 0,
    ),
    "at most one actor has the lock": lambda s: both(
        s.every(WRITE, WRITE, lambda w, v: implies(both(s.writer_locks(w), s.writer_locks(v)), w == v)),
        s.every(
            COMPACTOR, COMPACTOR,
            lambda c, b: implies(both(s.compactor_locks(c), s.compactor_locks(b)), c == b),
        ),
        s.every(WRITE, COMPACTOR, lambda w, c: no(both(s.writer_locks(w), s.compactor_locks(c)))),
    ),
    "a live actor that completes has the lock": lambda s: both(
        s.every(WRITE, lambda w: implies(
            both(s.phase(w) >= LOCKED, s.phase(w) < PUBLISHED, no(s.dead_writer(w))), s.writer_locks(w))),
        s.every(COMPACTOR, lambda c: implies(
            both(s.work(c) >= COMPLETING, no(s.dead_compactor(c))), s.compactor_locks(c))),
    ),
    "an actor with the lock completes, or is dead": lambda s: both(
        s.every(WRITE, lambda w: implies(
            s.writer_locks(w), both(s.phase(w) < PUBLISHED, either(s.phase(w) >= LOCKED, s.dead_writer(w))))),
        s.every(COMPACTOR, lambda c: implies(
            s.compactor_locks(c), either(s.work(c) >= COMPLETING, both(s.dead_compactor(c), s.work(c) > IDLE)))),
    ),
    "a write past its data phase has all its logs": lambda s: s.every(
        LOG, lambda log: implies(s.phase(s.write_of(log)) >= LOCKED, s.stored(log))),
    "a compactor works on a plan that exists": lambda s: s.every(
        COMPACTOR, lambda c: both(
            implies(s.work(c) > IDLE, s.planned(s.own_plan(c))),
            implies(both(s.compactor_locks(c), no(s.dead_compactor(c))), no(s.done(s.own_plan(c)))))),
    "only a plan that exists has parts": lambda s: s.every(
        PLAN, GROUP, lambda p, g: implies(s.part(p, g), s.planned(p))),
    "`newest` has the greatest barrier of the plans of a group": lambda s: s.every(
        PLAN, GROUP, lambda p, g: implies(
            s.part(p, g), both(has_base(s, g), s.barrier(p) <= s.barrier(s.newest(g))))),
    "at most one plan of a group is pending": lambda s: s.every(
        PLAN, PLAN, GROUP, lambda p, q, g: implies(
            both(s.part(p, g), s.part(q, g), no(s.done(p)), p != q), both(s.done(q), s.barrier(q) < s.barrier(p)))),
    "a base file holds exactly the logs that completed before its barrier": lambda s: s.every(
        PLAN, LOG, lambda p, log: implies(
            s.part(p, s.group_of(log)),
            iff(s.holds(p, log), both(
                published(s, s.write_of(log)), s.completed(s.write_of(log)) < s.barrier(p))))),
}  # fmt: skip
"""The clauses about writes, plans, base files and the lock."""


def of_instants(kinds: Kinds, completing: tuple[Completing, ...]) -> dict[str, Callable[[Any], Term]]:
    """Return the clauses about the times of instants and about the listings of readers, for all kinds of instants."""
    return {
        "a time is never ahead of the clock": lambda s: both(
            *(s.every(kind.sort, lambda x, kind=kind: both(
                implies(kind.begun(s, x), both(kind.requested(s, x) > 0, kind.requested(s, x) <= s.clock())),
                implies(kind.done(s, x), both(
                    kind.begun(s, x), kind.requested(s, x) < kind.completed(s, x),
                    kind.completed(s, x) <= s.clock()))))
              for kind in kinds),
            *(s.every(each.sort, lambda x, each=each: implies(each.has_time(s, x), both(
                each.requested(s, x) < each.time(s, x), each.time(s, x) <= s.clock())))
              for each in completing),
        ),
        "a completion time that is not published is the newest time": lambda s: both(*(
            s.every(each.sort, lambda x, each=each: implies(each.is_live(s, x), both(
                each.time(s, x) == s.clock(), newest_of_all(s, kinds, each.time(s, x)))))
            for each in completing)),
        "completion times of instants are distinct": lambda s: differ(
            s, kinds, lambda kind: kind.done, lambda kind: kind.completed),
        "requested times are distinct": lambda s: differ(
            s, kinds, lambda kind: kind.begun, lambda kind: kind.requested),
        "no requested time is a completion time": lambda s: no_request_is_a_completion(s, kinds, completing),
        "a reader's time is 0, or that of a published instant": lambda s: s.every(
            READER, lambda d: implies(s.reading(d) >= LISTED, either(s.reads_at(d) == 0, *(
                s.some(kind.sort, lambda x, kind=kind: both(kind.done(s, x), kind.completed(s, x) == s.reads_at(d)))
                for kind in kinds)))),
        "a listing contains only published instants": lambda s: both(*(
            s.every(READER, kind.sort, lambda d, x, kind=kind: implies(kind.there(s, d, x), kind.done(s, x)))
            for kind in kinds)),
        "the second listing contains everything up to the reader's time": lambda s: both(*(
            s.every(READER, kind.sort, lambda d, x, kind=kind: implies(
                both(s.reading(d) == LISTING_AGAIN, kind.done_by(s, x, s.reads_at(d))), kind.there(s, d, x)))
            for kind in kinds)),
        "a reader keeps what completed up to its time": lambda s: both(*(
            s.every(READER, kind.sort, lambda d, x, kind=kind: implies(
                s.reading(d) >= SURE, iff(kind.kept(s, d, x), kind.done_by(s, x, s.reads_at(d)))))
            for kind in kinds)),
    }  # fmt: skip
