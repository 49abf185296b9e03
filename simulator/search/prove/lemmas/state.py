"""The state of the core transition relation: its sorts, its relations, and formulas that several mechanisms share."""

from __future__ import annotations

from typing import Any, Final

from ..logic import Relation, Sort, Term, Update, at, both, choose, implies, no

WRITE, LOG, GROUP, PLAN = Sort("Write"), Sort("Log"), Sort("Group"), Sort("Plan")
COMPACTOR, READER = Sort("Compactor"), Sort("Reader")

IDLE, REQUESTED, WRITING, LOCKED, READY, PUBLISHED = range(6)
"""Phases of a write. `WRITING` includes a write whose logs are all on storage."""
SCHEDULED, RUNNING, COMPLETING, TIMED = 1, 2, 3, 4
"""What a compactor is doing; 0: nothing."""
LISTING, LISTED, OPENED, LISTING_AGAIN, HELD, SURE, ANSWERED, REFUSED, LOST = range(1, 10)
"""What a reader is doing; 0: nothing. `OPENED`, `HELD`: steps of readers of the archive. `REFUSED`, `LOST`: the read
found a file deleted, and its time is before the horizon, or is not.
"""
DIED = -1
"""The step of a dead reader."""

RELATIONS: Final = (
    Relation("write_of", (LOG,), WRITE, fixed=True),
    Relation("group_of", (LOG,), GROUP, fixed=True),
    Relation("earlier", (WRITE, WRITE), fixed=True),  # of one writer
    Relation("put_before", (LOG, LOG), fixed=True),
    Relation("plan_before", (PLAN, PLAN), fixed=True),
    Relation("group_before", (GROUP, GROUP), fixed=True),
    Relation("marks_rivals", (), fixed=True),  # a runner that completes a plan marks rivals whose files it deletes
    Relation("clock", (), "time"),
    Relation("writer_locks", (WRITE,)),
    Relation("compactor_locks", (COMPACTOR,)),
    Relation("phase", (WRITE,), "time"),
    Relation("dead_writer", (WRITE,)),
    Relation("requested", (WRITE,), "time"),
    Relation("completed", (WRITE,), "time"),
    Relation("stored", (LOG,)),
    Relation("planned", (PLAN,)),
    Relation("started", (PLAN,)),
    Relation("runner", (PLAN,), COMPACTOR),
    Relation("barrier", (PLAN,), "time"),
    Relation("part", (PLAN, GROUP)),  # the plan takes logs of the group
    Relation("newest", (GROUP,), PLAN),  # of the plans with a part in the group, that of the greatest barrier
    Relation("holds", (PLAN, LOG)),  # the base file of the plan holds the rows of the log
    Relation("done", (PLAN,)),
    Relation("compacted", (PLAN,), "time"),
    Relation("work", (COMPACTOR,), "time"),
    Relation("dead_compactor", (COMPACTOR,)),
    Relation("own_plan", (COMPACTOR,), PLAN),
    Relation("base_written", (COMPACTOR, GROUP)),
    Relation("without_files", (COMPACTOR,)),
    Relation("completing", (COMPACTOR,), "time"),
    Relation("reading", (READER,), "time"),
    Relation("there_write", (READER, WRITE)),
    Relation("there_plan", (READER, PLAN)),
    Relation("seen_plan", (READER, PLAN)),  # the plan was there when the present listing began
    Relation("reads_at", (READER,), "time"),
    Relation("kept_write", (READER, WRITE)),
    Relation("kept_plan", (READER, PLAN)),
)


def published(s: Any, w: Term) -> Term:
    return s.phase(w) == PUBLISHED


def complete(s: Any, w: Term, t: Term) -> Term:
    return both(published(s, w), s.completed(w) <= t)


def lock_is_free(s: Any) -> Term:
    return both(s.every(WRITE, lambda w: no(s.writer_locks(w))), s.every(COMPACTOR, lambda c: no(s.compactor_locks(c))))


def all_stored(s: Any, w: Term) -> Term:
    return s.every(LOG, lambda log: implies(s.write_of(log) == w, s.stored(log)))


def all_bases_written(s: Any, c: Term) -> Term:
    return s.every(GROUP, lambda g: implies(s.part(s.own_plan(c), g), s.base_written(c, g)))


def has_base(s: Any, g: Term) -> Term:
    """True if some plan includes the file group."""
    return s.part(s.newest(g), g)


def any_time(s: Any) -> Term:
    """Return the as-of time of an arbitrary read. In a proof, this time is a free variable."""
    return s.time()


def tick(s: Any) -> dict[str, Update]:
    return {"clock": lambda: s.clock() + 1}


def takes_up(s: Any, c: Term, p: Term, work: int) -> dict[str, Update]:
    """Return the state updates for a compactor that starts to run a plan and has no base files yet."""
    return {
        "work": at(s.work, c, to=work),
        "own_plan": at(s.own_plan, c, to=p),
        "base_written": lambda b, g: choose(b == c, False, s.base_written(b, g)),
        "without_files": at(s.without_files, c, to=False),
        "completing": at(s.completing, c, to=0),
    }


def initially(s: Any) -> Term:
    """True in the initial state, before any actor has taken a step."""
    return both(
        s.clock() == 0,
        s.every(WRITE, lambda w: both(no(s.writer_locks(w)), s.phase(w) == IDLE, no(s.dead_writer(w)))),
        s.every(LOG, lambda log: no(s.stored(log))),
        s.every(PLAN, lambda p: both(no(s.planned(p)), no(s.started(p)), no(s.done(p)))),
        s.every(PLAN, GROUP, lambda p, g: no(s.part(p, g))),
        s.every(PLAN, LOG, lambda p, log: no(s.holds(p, log))),
        s.every(COMPACTOR, lambda c: both(
            no(s.compactor_locks(c)), s.work(c) == IDLE, no(s.dead_compactor(c)), no(s.without_files(c)))),
        s.every(READER, lambda d: s.reading(d) == 0),
        s.every(READER, WRITE, lambda d, w: both(no(s.there_write(d, w)), no(s.kept_write(d, w)))),
        s.every(READER, PLAN, lambda d, p: both(no(s.there_plan(d, p)), no(s.seen_plan(d, p)), no(s.kept_plan(d, p)))),
    )
