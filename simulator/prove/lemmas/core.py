"""The core of RFC-66 for any number of writers, logs, file groups, plans, compactors and readers.

Writers put several logs in several groups; compactors die, and other compactors run their plans; readers list twice,
and no listing is a snapshot. The relation describes the transitions of `model/kernel` and of crashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..logic import Relation, Sort, Term, Update, at, both, choose, either, iff, implies, no
from ..system import Action, Claim, Predicate, System

WRITE, LOG, GROUP, PLAN = Sort("Write"), Sort("Log"), Sort("Group"), Sort("Plan")
COMPACTOR, READER = Sort("Compactor"), Sort("Reader")

IDLE, REQUESTED, WRITING, LOCKED, READY, PUBLISHED = range(6)
"""Phases of a write. `WRITING` includes a write whose logs are all on storage."""
SCHEDULED, RUNNING, COMPLETING, TIMED = 1, 2, 3, 4
"""What a compactor is doing; 0: nothing."""
LISTING, LISTED, LISTING_AGAIN, SURE, ANSWERED = range(1, 6)
"""What a reader is doing; 0: nothing."""

RELATIONS: Final = (
    Relation("write_of", (LOG,), WRITE, fixed=True),
    Relation("group_of", (LOG,), GROUP, fixed=True),
    Relation("earlier", (WRITE, WRITE), fixed=True),  # of one writer
    Relation("put_before", (LOG, LOG), fixed=True),
    Relation("plan_before", (PLAN, PLAN), fixed=True),
    Relation("group_before", (GROUP, GROUP), fixed=True),
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
    Relation("completing", (COMPACTOR,), "time"),
    Relation("reading", (READER,), "time"),
    Relation("there_write", (READER, WRITE)),
    Relation("there_plan", (READER, PLAN)),
    Relation("seen_plan", (READER, PLAN)),  # the plan was there when the present listing began
    Relation("reads_at", (READER,), "time"),
    Relation("kept_write", (READER, WRITE)),
    Relation("kept_plan", (READER, PLAN)),
)


@dataclass(frozen=True)
class Options:
    """Options of the model, by its names and values, on which the core depends."""

    slicing: Literal["completion", "requested"] = "completion"
    completion_time: Literal["under_lock", "outside_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier", "any_log"] = "completed_before_barrier"
    listing: Literal["twice", "once"] = "twice"
    read_time: Literal["settled", "clock"] = "settled"
    visibility: Literal["completed", "any"] = "completed"
    as_of_axis: Literal["completion", "requested"] = "completion"
    incremental_axis: Literal["completion", "requested"] = "completion"
    rivals: bool = True
    """Whether a compactor may run the plan of a live compactor."""


def published(s: Any, w: Term) -> Term:
    return s.phase(w) == PUBLISHED


def lock_is_free(s: Any) -> Term:
    return both(
        s.every(WRITE, lambda w: no(s.writer_locks(w))), s.every(COMPACTOR, lambda c: no(s.compactor_locks(c)))
    )


def all_stored(s: Any, w: Term) -> Term:
    return s.every(LOG, lambda log: implies(s.write_of(log) == w, s.stored(log)))


def all_bases_written(s: Any, c: Term) -> Term:
    return s.every(GROUP, lambda g: implies(s.part(s.own_plan(c), g), s.base_written(c, g)))


class Core:
    """The relation under some options. Mechanisms extend it."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def slice_time(self, s: Any, w: Term) -> Term:
        """The time that assigns the logs of a write to a slice."""
        return s.completed(w) if self.options.slicing == "completion" else s.requested(w)

    # Writers

    def writers(self) -> tuple[Action, ...]:
        outside = self.options.completion_time == "outside_lock"
        alive = lambda s, w, phase: both(s.phase(w) == phase, no(s.dead_writer(w)))  # noqa: E731
        takes_lock = lambda s, w, phase: both(alive(s, w, phase), lock_is_free(s))  # noqa: E731
        return (
            Action(
                "writer requests instant", (WRITE,),
                lambda s, w: both(
                    takes_lock(s, w, IDLE), s.every(WRITE, lambda v: implies(s.earlier(v, w), published(s, v)))
                ),
                lambda s, w: {
                    **tick(s), "requested": at(s.requested, w, to=s.clock() + 1), "phase": at(s.phase, w, to=REQUESTED)
                },
                ("writer_requests_instant",),
            ),
            Action(
                "writer starts writing", (WRITE,), lambda s, w: alive(s, w, REQUESTED),
                lambda s, w: {"phase": at(s.phase, w, to=WRITING)}, ("writer_starts_writing",),
            ),
            Action(
                "writer writes log", (LOG,),
                lambda s, log: both(
                    alive(s, s.write_of(log), WRITING), no(s.stored(log)),
                    s.every(LOG, lambda other: implies(s.put_before(other, log), s.stored(other))),
                ),
                lambda s, log: {"stored": at(s.stored, log, to=True)}, ("writer_writes_log",),
            ),
            Action(
                "writer takes lock", (WRITE,),
                lambda s, w: both(takes_lock(s, w, READY if outside else WRITING), all_stored(s, w)),
                lambda s, w: {
                    "writer_locks": at(s.writer_locks, w, to=True), "phase": at(s.phase, w, to=LOCKED)
                },
                ("writer_takes_lock",),
            ),
            Action(
                "writer takes completion time", (WRITE,),
                lambda s, w: both(alive(s, w, WRITING if outside else LOCKED), all_stored(s, w),
                                  outside or s.writer_locks(w)),
                lambda s, w: {
                    **tick(s), "completed": at(s.completed, w, to=s.clock() + 1), "phase": at(s.phase, w, to=READY)
                },
                ("writer_takes_completion_time",),
            ),
            Action(
                "writer publishes instant", (WRITE,),
                lambda s, w: both(alive(s, w, LOCKED if outside else READY), s.writer_locks(w)),
                lambda s, w: {
                    "writer_locks": at(s.writer_locks, w, to=False), "phase": at(s.phase, w, to=PUBLISHED)
                },
                ("writer_publishes_instant",),
            ),
            Action(
                "writer crashes", (WRITE,),
                lambda s, w: both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED, no(s.dead_writer(w))),
                lambda s, w: {
                    "dead_writer": at(s.dead_writer, w, to=True),
                    "phase": at(s.phase, w, to=choose(s.phase(w) == LOCKED, READY if outside else WRITING, s.phase(w))),
                },
                ("actor_crashes",),
            ),
            Action(
                "lock of a dead writer expires", (WRITE,), lambda s, w: both(s.dead_writer(w), s.writer_locks(w)),
                lambda s, w: {"writer_locks": at(s.writer_locks, w, to=False)}, ("lock_expires",),
            ),
        )  # fmt: skip

    # Compactors

    def takes(self, s: Any, log: Term) -> Term:
        """A plan that is scheduled now takes the log: it is complete, and in the newest slice of its group."""
        w, g = s.write_of(log), s.group_of(log)
        complete = (
            both(published(s, w), s.completed(w) < s.clock() + 1)
            if self.options.plan_takes == "completed_before_barrier"
            else s.stored(log)
        )
        return both(complete, implies(has_base(s, g), self.slice_time(s, w) >= s.barrier(s.newest(g))))

    def new_part(self, s: Any, g: Term) -> Term:
        """A plan that is scheduled now works on the group: none is pending there, and there is a log to compact."""
        idle = s.every(PLAN, lambda q: implies(s.part(q, g), s.done(q)))
        return both(idle, s.some(LOG, lambda log: both(s.group_of(log) == g, self.takes(s, log))))

    def new_content(self, s: Any, log: Term) -> Term:
        """The base file of a plan that is scheduled now holds the log."""
        g = s.group_of(log)
        merged = both(has_base(s, g), s.holds(s.newest(g), log))
        return both(self.new_part(s, g), either(merged, self.takes(s, log)))

    def schedule(self, s: Any, c: Term, p: Term) -> Mapping[str, Update]:
        return {
            **tick(s),
            "planned": at(s.planned, p, to=True),
            "barrier": at(s.barrier, p, to=s.clock() + 1),
            "runner": at(s.runner, p, to=c),
            "part": lambda q, g: choose(q == p, self.new_part(s, g), s.part(q, g)),
            "newest": lambda g: choose(self.new_part(s, g), p, s.newest(g)),
            "holds": lambda q, log: choose(q == p, self.new_content(s, log), s.holds(q, log)),
            **takes_up(s, c, p, SCHEDULED),
        }

    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        return both(
            s.work(c) == IDLE, no(s.dead_compactor(c)), lock_is_free(s), no(s.planned(p)),
            s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.planned(q))),
            s.some(GROUP, lambda g: self.new_part(s, g)),
        )  # fmt: skip

    def compactors(self) -> tuple[Action, ...]:
        alive = lambda s, c, work: both(s.work(c) == work, no(s.dead_compactor(c)))  # noqa: E731
        outside = self.options.completion_time == "outside_lock"
        return (
            Action(
                "compactor schedules plan", (COMPACTOR, PLAN),
                self.may_schedule, self.schedule, ("compactor_schedules_plan",),
            ),
            Action(
                "compactor starts plan", (COMPACTOR,), lambda s, c: alive(s, c, SCHEDULED),
                lambda s, c: {
                    "work": at(s.work, c, to=RUNNING), "started": at(s.started, s.own_plan(c), to=True)
                },
                ("compactor_starts_plan",),
            ),
            Action(
                "compactor resumes plan", (COMPACTOR, PLAN),
                lambda s, c, p: both(alive(s, c, IDLE), self.may_resume(s, c, p)),
                lambda s, c, p: {
                    **takes_up(s, c, p, RUNNING), "started": at(s.started, p, to=True),
                    "runner": at(s.runner, p, to=c),
                },
                ("compactor_resumes_plan",),
            ),
            Action(
                "compactor writes base", (COMPACTOR, GROUP),
                lambda s, c, g: both(
                    alive(s, c, RUNNING), s.part(s.own_plan(c), g), no(s.base_written(c, g)),
                    s.every(GROUP, lambda h: implies(both(s.group_before(h, g), s.part(s.own_plan(c), h)),
                                                     s.base_written(c, h))),
                ),
                lambda s, c, g: {"base_written": at(s.base_written, c, g, to=True)}, ("compactor_writes_base",),
            ),
            Action(
                "compactor takes lock", (COMPACTOR,),
                lambda s, c: both(
                    alive(s, c, TIMED if outside else RUNNING), lock_is_free(s), all_bases_written(s, c),
                    no(s.done(s.own_plan(c))),
                ),
                lambda s, c: {
                    "compactor_locks": at(s.compactor_locks, c, to=True), "work": at(s.work, c, to=COMPLETING)
                },
                ("compactor_takes_lock",),
            ),
            Action(
                "compactor takes completion time", (COMPACTOR,),
                lambda s, c: both(alive(s, c, RUNNING if outside else COMPLETING), all_bases_written(s, c),
                                  outside or s.compactor_locks(c)),
                lambda s, c: {
                    **tick(s), "completing": at(s.completing, c, to=s.clock() + 1), "work": at(s.work, c, to=TIMED)
                },
                ("compactor_takes_completion_time",),
            ),
            Action(
                "compactor publishes instant", (COMPACTOR,),
                lambda s, c: both(alive(s, c, COMPLETING if outside else TIMED), s.compactor_locks(c)),
                lambda s, c: {
                    "compactor_locks": at(s.compactor_locks, c, to=False), "work": at(s.work, c, to=IDLE),
                    "done": at(s.done, s.own_plan(c), to=True),
                    "compacted": at(s.compacted, s.own_plan(c), to=s.completing(c)),
                },
                ("compactor_publishes_instant",),
            ),
            Action(
                "compactor crashes", (COMPACTOR,),
                lambda s, c: both(s.work(c) > IDLE, no(s.dead_compactor(c))),
                lambda s, c: {
                    "dead_compactor": at(s.dead_compactor, c, to=True),
                    "work": at(s.work, c, to=choose(s.work(c) == TIMED, TIMED, RUNNING)),
                },
                ("actor_crashes",),
            ),
            Action(
                "lock of a dead compactor expires", (COMPACTOR,),
                lambda s, c: both(s.dead_compactor(c), s.compactor_locks(c)),
                lambda s, c: {"compactor_locks": at(s.compactor_locks, c, to=False)}, ("lock_expires",),
            ),
        )  # fmt: skip

    def reads_as_of(self, s: Any, d: Term, sw: Term, sp: Term, t: Term) -> Term:
        """The time that a reader takes at the end of its first listing."""
        return t == s.clock() if self.options.read_time == "clock" else greatest(s, d, sw, sp, t)

    def may_resume(self, s: Any, c: Term, p: Term) -> Term:
        pending = both(s.planned(p), no(s.done(p)))
        if self.options.rivals:
            return pending
        orphan = lambda q: both(s.planned(q), no(s.done(q)), s.dead_compactor(s.runner(q)), s.runner(q) != c)  # noqa: E731
        oldest = s.every(PLAN, lambda q: implies(orphan(q), s.barrier(p) <= s.barrier(q)))
        return both(orphan(p), oldest)

    # Readers

    def readers(self) -> tuple[Action, ...]:
        begin = lambda s, d: {  # noqa: E731
            "there_write": lambda r, w: choose(r == d, published(s, w), s.there_write(r, w)),
            "there_plan": lambda r, p: choose(r == d, s.done(p), s.there_plan(r, p)),
            "seen_plan": lambda r, p: choose(r == d, s.planned(p), s.seen_plan(r, p)),
        }
        forget = lambda s, d: {  # noqa: E731
            "there_write": lambda r, w: choose(r == d, False, s.there_write(r, w)),
            "there_plan": lambda r, p: choose(r == d, False, s.there_plan(r, p)),
        }
        twice = self.options.listing == "twice"
        seen = (Predicate((WRITE,)), Predicate((PLAN,)))
        return (
            Action(
                "reader starts listing", (READER,), lambda s, d: s.reading(d) == 0,
                lambda s, d: {
                    **begin(s, d), "reading": at(s.reading, d, to=LISTING), "reads_at": at(s.reads_at, d, to=0)
                },
                ("reader_starts_listing",),
            ),
            *(
                (
                    Action(
                        "reader ends listing", (READER, *seen, "time"),
                        lambda s, d, sw, sp, t: both(
                            s.reading(d) == LISTING, part_of_the_new(s, d, sw, sp), self.reads_as_of(s, d, sw, sp, t)
                        ),
                        lambda s, d, sw, sp, t: {
                            **forget(s, d), "seen_plan": lambda r, p: both(r != d, s.seen_plan(r, p)), "reads_at": at(s.reads_at, d, to=t),
                            "reading": at(s.reading, d, to=LISTED),
                        },
                        ("reader_ends_listing",),
                    ),
                    Action(
                        "reader starts listing again", (READER,), lambda s, d: s.reading(d) == LISTED,
                        lambda s, d: {**begin(s, d), "reading": at(s.reading, d, to=LISTING_AGAIN)},
                        ("reader_starts_listing_again",),
                    ),
                )
                if twice
                else ()
            ),
            Action(
                "reader ends listing again" if twice else "reader ends its only listing",
                (READER, *seen) if twice else (READER, *seen, "time"),
                (lambda s, d, sw, sp: both(s.reading(d) == LISTING_AGAIN, part_of_the_new(s, d, sw, sp)))
                if twice
                else (
                    lambda s, d, sw, sp, t: both(
                        s.reading(d) == LISTING, part_of_the_new(s, d, sw, sp), self.reads_as_of(s, d, sw, sp, t)
                    )
                ),
                lambda s, d, sw, sp, *t: {
                    **forget(s, d), **keep(s, d, sw, sp, *(t or (s.reads_at(d),))),
                    "reading": at(s.reading, d, to=SURE),
                    **({"reads_at": at(s.reads_at, d, to=t[0])} if t else {}),
                },
                ("reader_ends_listing_again",) if twice else ("reader_ends_listing",),
            ),
            Action(
                "reader reads", (READER,), lambda s, d: s.reading(d) == SURE,
                lambda s, d: {"reading": at(s.reading, d, to=ANSWERED)}, ("reader_reads",),
            ),
        )  # fmt: skip

    # The invariant

    def clauses(self) -> dict[str, Any]:
        ended = lambda s, p, c: both(s.own_plan(c) == p, s.work(c) > IDLE)  # noqa: E731
        return {
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

    # The promises

    def in_logs(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """A read as of t from the base file of q reads the log: it is in the slice of q or later, and visible."""
        w = s.write_of(log)
        return both(published(s, w), s.completed(w) <= t, self.slice_time(s, w) >= s.barrier(q))

    def snapshot_on(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        """The read as of t, from the base file of q and the logs above, contains the log."""
        return either(s.holds(q, log), self.in_logs(s, q, log, t))

    def axis(self, s: Any, w: Term, option: str) -> Term:
        """The time of a write that a read compares with its own."""
        return s.completed(w) if option == "completion" else s.requested(w)

    def visible(self, s: Any, log: Term, t: Term) -> Term:
        """A read as of t counts the log."""
        w = s.write_of(log)
        if self.options.visibility == "any":
            return s.stored(log)
        return both(published(s, w), self.axis(s, w, self.options.as_of_axis) <= t)

    def delivered(self, s: Any, w: Term, after: Term, until: Term) -> Term:
        """The window (after, until] contains the write."""
        time = self.axis(s, w, self.options.incremental_axis)
        return both(published(s, w), after < time, time <= until)

    def claims(self) -> tuple[Claim, ...]:
        return (
            Claim("SNAP", "a read as of any time contains exactly the logs that completed by then", self.snap),
            Claim("PART", "a completed log is in a base file, or in a slice above it, never in both", self.part),
            Claim("ATOM", "a read shows all logs of a write or none, and none of a write that is not complete", self.atom),
            Claim("TRAVEL", "a read as of a settled time never changes", step=self.travel),
            Claim("INCR", "a window of settled times never changes, and leads from one state to the next",
                  self.incr, self.incr_again),
            Claim("MONO", "times are distinct, and instants are published in the order of their completion times",
                  self.distinct, self.in_order),
        )  # fmt: skip

    def snap(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(s.done(q), s.compacted(q) <= t, s.part(q, s.group_of(log))),
            iff(self.snapshot_on(s, q, log, t), complete(s, s.write_of(log), t))))  # fmt: skip

    def part(self, s: Any) -> Term:
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(s.part(q, s.group_of(log)), published(s, s.write_of(log))),
            iff(s.holds(q, log), self.slice_time(s, s.write_of(log)) < s.barrier(q))))  # fmt: skip

    def atom(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(LOG, LOG, lambda log, other: implies(
            both(self.visible(s, log, t), s.write_of(log) == s.write_of(other)),
            both(self.visible(s, other, t), s.stored(other), published(s, s.write_of(log)))))  # fmt: skip

    def travel(self, s: Any, n: Any) -> Term:
        return settled_times(s, lambda t: both(
            s.every(LOG, lambda log: iff(self.visible(s, log, t), self.visible(n, log, t))),
            s.every(PLAN, lambda p: iff(both(s.done(p), s.compacted(p) <= t), both(n.done(p), n.compacted(p) <= t)))))  # fmt: skip

    def incr(self, s: Any) -> Term:
        t = any_time(s)
        return settled_times(s, lambda until: implies(t <= until, s.every(WRITE, lambda w: iff(
            either(complete(s, w, t), self.delivered(s, w, t, until)), complete(s, w, until)))))  # fmt: skip

    def incr_again(self, s: Any, n: Any) -> Term:
        t = any_time(s)
        return settled_times(s, lambda until: s.every(WRITE, lambda w: iff(
            self.delivered(s, w, t, until), self.delivered(n, w, t, until))))  # fmt: skip

    def distinct(self, s: Any) -> Term:
        names = ("completion times of instants are distinct", "requested times are distinct",
                 "no requested time is a completion time")  # fmt: skip
        return both(*(self.clauses()[name](s) for name in names))

    def in_order(self, s: Any, n: Any) -> Term:
        """An instant that is published now is later than every instant that was published before."""
        new_write = lambda w: both(published(n, w), no(published(s, w)))  # noqa: E731
        new_plan = lambda p: both(n.done(p), no(s.done(p)))  # noqa: E731
        return both(
            s.every(WRITE, WRITE, lambda w, v: implies(
                both(new_write(w), published(s, v)), s.completed(v) < n.completed(w))),
            s.every(WRITE, PLAN, lambda w, p: implies(
                both(new_write(w), s.done(p)), s.compacted(p) < n.completed(w))),
            s.every(PLAN, WRITE, lambda p, w: implies(
                both(new_plan(p), published(s, w)), s.completed(w) < n.compacted(p))),
            s.every(PLAN, PLAN, lambda p, q: implies(both(new_plan(p), s.done(q)), s.compacted(q) < n.compacted(p))),
        )  # fmt: skip

    def actions(self) -> tuple[Action, ...]:
        return (*self.writers(), *self.compactors(), *self.readers())

    def system(self) -> System:
        return System(
            "core", "writers, compactions, crashes and readers", RELATIONS, initially, self.actions(), self.clauses(),
            self.claims(),
        )  # fmt: skip


def any_time(s: Any) -> Term:
    """A time that a user may name: any at all in a proof; on a finite instance, see `Finite.time`."""
    return s.time()


def complete(s: Any, w: Term, t: Term) -> Term:
    return both(published(s, w), s.completed(w) <= t)


def settled_times(s: Any, holds: Any) -> Term:
    """The formula holds of every settled time: that of a published instant, and that of a reader."""
    return both(
        s.every(WRITE, lambda w: implies(published(s, w), holds(s.completed(w)))),
        s.every(PLAN, lambda p: implies(s.done(p), holds(s.compacted(p)))),
        s.every(READER, lambda d: implies(s.reading(d) >= LISTED, holds(s.reads_at(d)))),
    )


def has_base(s: Any, g: Term) -> Term:
    """A plan has a part in the group."""
    return s.part(s.newest(g), g)


def tick(s: Any) -> dict[str, Update]:
    return {"clock": lambda: s.clock() + 1}


def takes_up(s: Any, c: Term, p: Term, work: int) -> dict[str, Update]:
    """The compactor begins to work on a plan, without base files."""
    return {
        "work": at(s.work, c, to=work),
        "own_plan": at(s.own_plan, c, to=p),
        "base_written": lambda b, g: choose(b == c, False, s.base_written(b, g)),
        "completing": at(s.completing, c, to=0),
    }


def part_of_the_new(s: Any, d: Term, sw: Term, sp: Term) -> Term:
    """The listing shows some instants that were published after it began."""
    return both(
        s.every(WRITE, lambda w: implies(sw(w), both(published(s, w), no(s.there_write(d, w))))),
        s.every(PLAN, lambda p: implies(sp(p), both(s.done(p), no(s.there_plan(d, p))))),
    )


def shown(s: Any, d: Term, sw: Term, sp: Term) -> tuple[Any, Any]:
    return (lambda w: either(s.there_write(d, w), sw(w))), (lambda p: either(s.there_plan(d, p), sp(p)))


def greatest(s: Any, d: Term, sw: Term, sp: Term, t: Term) -> Term:
    """t is the greatest completion time that the listing shows, 0 if it shows none."""
    write, plan = shown(s, d, sw, sp)
    return both(
        s.every(WRITE, lambda w: implies(write(w), s.completed(w) <= t)),
        s.every(PLAN, lambda p: implies(plan(p), s.compacted(p) <= t)),
        either(
            t == 0,
            s.some(WRITE, lambda w: both(write(w), s.completed(w) == t)),
            s.some(PLAN, lambda p: both(plan(p), s.compacted(p) == t)),
        ),
    )


def keep(s: Any, d: Term, sw: Term, sp: Term, t: Term) -> dict[str, Update]:
    write, plan = shown(s, d, sw, sp)
    return {
        "kept_write": lambda r, w: choose(r == d, both(write(w), s.completed(w) <= t), s.kept_write(r, w)),
        "kept_plan": lambda r, p: choose(r == d, both(plan(p), s.compacted(p) <= t), s.kept_plan(r, p)),
    }


def newest_of_all(s: Any, time: Term) -> Term:
    """The time is later than every published completion, every requested time and every barrier."""
    return both(
        s.every(WRITE, lambda w: both(
            implies(s.phase(w) > IDLE, s.requested(w) < time), implies(published(s, w), s.completed(w) < time))),
        s.every(PLAN, lambda p: both(
            implies(s.planned(p), s.barrier(p) < time), implies(s.done(p), s.compacted(p) < time))),
    )  # fmt: skip


def initially(s: Any) -> Term:
    """No actor has done anything."""
    return both(
        s.clock() == 0,
        s.every(WRITE, lambda w: both(no(s.writer_locks(w)), s.phase(w) == IDLE, no(s.dead_writer(w)))),
        s.every(LOG, lambda log: no(s.stored(log))),
        s.every(PLAN, lambda p: both(no(s.planned(p)), no(s.started(p)), no(s.done(p)))),
        s.every(PLAN, GROUP, lambda p, g: no(s.part(p, g))),
        s.every(PLAN, LOG, lambda p, log: no(s.holds(p, log))),
        s.every(COMPACTOR, lambda c: both(no(s.compactor_locks(c)), s.work(c) == IDLE, no(s.dead_compactor(c)))),
        s.every(READER, lambda d: s.reading(d) == 0),
        s.every(READER, WRITE, lambda d, w: both(no(s.there_write(d, w)), no(s.kept_write(d, w)))),
        s.every(
            READER, PLAN, lambda d, p: both(no(s.there_plan(d, p)), no(s.seen_plan(d, p)), no(s.kept_plan(d, p)))
        ),
    )
