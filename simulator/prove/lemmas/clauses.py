"""The inductive invariant of the core transition relation: a dictionary from each clause's wording to its formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..logic import Term, both, either, iff, implies, no
from .state import (
    ANSWERED,
    COMPACTOR,
    COMPLETING,
    GROUP,
    IDLE,
    LISTED,
    LISTING_AGAIN,
    LOCKED,
    LOG,
    PLAN,
    PUBLISHED,
    READER,
    READY,
    SURE,
    TIMED,
    WRITE,
    has_base,
    newest_of_all,
    published,
)  # fmt: skip

CLAUSES: Final[Mapping[str, Callable[[Any], Term]]] = {
    "phases, works and readings are in range": lambda s: both(
        s.every(WRITE, lambda w: both(s.phase(w) >= IDLE, s.phase(w) <= PUBLISHED)),
        s.every(COMPACTOR, lambda c: both(s.work(c) >= IDLE, s.work(c) <= TIMED)),
        s.every(READER, lambda d: both(s.reading(d) >= 0, s.reading(d) <= ANSWERED)),
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
    "a time is never ahead of the clock": lambda s: both(
        s.every(WRITE, lambda w: both(
            implies(s.phase(w) > IDLE, both(s.requested(w) > 0, s.requested(w) <= s.clock())),
            implies(s.phase(w) >= READY, both(s.requested(w) < s.completed(w), s.completed(w) <= s.clock())))),
        s.every(PLAN, lambda p: both(
            implies(s.planned(p), both(s.barrier(p) > 0, s.barrier(p) <= s.clock())),
            implies(s.done(p), both(s.planned(p), s.barrier(p) < s.compacted(p), s.compacted(p) <= s.clock())))),
        s.every(COMPACTOR, lambda c: implies(
            s.work(c) == TIMED,
            both(s.barrier(s.own_plan(c)) < s.completing(c), s.completing(c) <= s.clock()))),
    ),
    "a completion time that is not published is the newest time": lambda s: both(
        s.every(WRITE, lambda w: implies(both(s.phase(w) == READY, no(s.dead_writer(w))), both(
            s.completed(w) == s.clock(), newest_of_all(s, s.completed(w))))),
        s.every(COMPACTOR, lambda c: implies(both(s.work(c) == TIMED, no(s.dead_compactor(c))), both(
            s.completing(c) == s.clock(), newest_of_all(s, s.completing(c))))),
    ),
    "completion times of instants are distinct": lambda s: both(
        s.every(WRITE, WRITE, lambda w, v: implies(
            both(published(s, w), published(s, v), s.completed(w) == s.completed(v)), w == v)),
        s.every(PLAN, PLAN, lambda p, q: implies(
            both(s.done(p), s.done(q), s.compacted(p) == s.compacted(q)), p == q)),
        s.every(WRITE, PLAN, lambda w, p: implies(
            both(published(s, w), s.done(p)), s.completed(w) != s.compacted(p))),
    ),
    "requested times are distinct": lambda s: both(
        s.every(WRITE, WRITE, lambda w, v: implies(
            both(s.phase(w) > IDLE, s.phase(v) > IDLE, s.requested(w) == s.requested(v)), w == v)),
        s.every(PLAN, PLAN, lambda p, q: implies(
            both(s.planned(p), s.planned(q), s.barrier(p) == s.barrier(q)), p == q)),
        s.every(WRITE, PLAN, lambda w, p: implies(
            both(s.phase(w) > IDLE, s.planned(p)), s.requested(w) != s.barrier(p))),
    ),
    "no requested time is a completion time": lambda s: both(
        s.every(WRITE, PLAN, lambda w, p: implies(
            both(s.phase(w) >= READY, s.planned(p)), s.completed(w) != s.barrier(p))),
        s.every(WRITE, WRITE, lambda w, v: implies(
            both(s.phase(w) >= READY, s.phase(v) > IDLE), s.completed(w) != s.requested(v))),
        s.every(WRITE, PLAN, lambda w, p: implies(
            both(s.phase(w) > IDLE, s.done(p)), s.requested(w) != s.compacted(p))),
        s.every(PLAN, PLAN, lambda p, q: implies(
            both(s.planned(p), s.done(q)), s.barrier(p) != s.compacted(q))),
        s.every(WRITE, COMPACTOR, lambda w, c: implies(
            both(s.phase(w) > IDLE, s.work(c) == TIMED), s.requested(w) != s.completing(c))),
        s.every(PLAN, COMPACTOR, lambda p, c: implies(
            both(s.planned(p), s.work(c) == TIMED), s.barrier(p) != s.completing(c))),
    ),
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
    "a reader's time is 0, or that of a published instant": lambda s: s.every(
        READER, lambda d: implies(s.reading(d) >= LISTED, either(
            s.reads_at(d) == 0,
            s.some(WRITE, lambda w: both(published(s, w), s.completed(w) == s.reads_at(d))),
            s.some(PLAN, lambda p: both(s.done(p), s.compacted(p) == s.reads_at(d)))))),
    "a listing contains only published instants": lambda s: both(
        s.every(READER, WRITE, lambda d, w: implies(s.there_write(d, w), published(s, w))),
        s.every(READER, PLAN, lambda d, p: implies(s.there_plan(d, p), s.done(p))),
    ),
    "the second listing contains everything up to the reader's time": lambda s: both(
        s.every(READER, WRITE, lambda d, w: implies(both(
            s.reading(d) == LISTING_AGAIN, published(s, w), s.completed(w) <= s.reads_at(d)),
            s.there_write(d, w))),
        s.every(READER, PLAN, lambda d, p: implies(both(
            s.reading(d) == LISTING_AGAIN, s.done(p), s.compacted(p) <= s.reads_at(d)), s.there_plan(d, p))),
    ),
    "a reader keeps what completed up to its time": lambda s: both(
        s.every(READER, WRITE, lambda d, w: implies(s.reading(d) >= SURE, iff(
            s.kept_write(d, w), both(published(s, w), s.completed(w) <= s.reads_at(d))))),
        s.every(READER, PLAN, lambda d, p: implies(s.reading(d) >= SURE, iff(
            s.kept_plan(d, p), both(s.done(p), s.compacted(p) <= s.reads_at(d))))),
    ),
}  # fmt: skip
