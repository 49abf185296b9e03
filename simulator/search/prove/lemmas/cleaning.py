"""Cleaning with a horizon (the time before which reads are refused): no clean deletes a file that a permitted read or a
pending plan needs.

Under the lock, a cleaner chooses any completion time as its horizon. In each file group, a clean may delete the files
that are older than the newest base file that completed at or before the horizon. It may delete any subset of these
files, in any order. Because of these free choices, the proof covers every retention policy that chooses a completion
time as its horizon. The proof also covers cleaners that crash during a clean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from nbcc.model.kernel.reader import READER_READS
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER

from ..logic import Relation, Term, Update, at, both, choose, either, implies, no, when
from ..system import Claim, Formula, Move, SetParameter
from . import options
from .compactors import is_next
from .services import AT_WORK, OPERATION, SERVICE, Services, is_alive
from .state import (
    COMPACTOR,
    GROUP,
    IDLE,
    LOG,
    LOST,
    PLAN,
    READER,
    REFUSED,
    SURE,
    WRITE,
    any_time,
    complete,
    published,
)  # fmt: skip

FILES: Final = (
    Relation("horizon", (), "time"),  # reads before it are refused
    Relation("old_base", (PLAN, GROUP)),  # the plan of a clean contains the base file
    Relation("old_log", (LOG,)),
    Relation("deleted_base", (PLAN, GROUP)),
    Relation("deleted_log", (LOG,)),
)
ANSWERS: Final = "a reader finds a file deleted only if its time is before the horizon"
OLD_LOGS: Final = "an old log is in an older slice than a base file that was complete at the horizon"
READS: Final = (
    "an old base file has a newer one that was complete at the horizon",
    OLD_LOGS,
    "only old files are deleted",
)
"""The clauses that imply that reads find their files."""
LATE: Final = Relation("planned_horizon", (OPERATION,), "time")
"""The horizon of a planned clean, if readers do not learn it before the clean is complete."""


@dataclass(frozen=True)
class CleaningOptions(options.CoreOptions):
    """The model options that affect cleaning, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    retention: Literal["completion", "barrier", "any_barrier"] = "completion"
    horizon: Literal["before_delete", "after_delete"] = "before_delete"


class CleaningLemmas(Services):
    """The core transition relation, extended by cleaners."""

    options: CleaningOptions
    kind = CLEANER.name

    @property
    def early(self) -> bool:
        """True if reads before the horizon are refused as soon as the clean is planned."""
        return self.options.horizon == "before_delete"

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *FILES, *(() if self.early else (LATE,)))

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.horizon() == 0,
            self.early or s.every(OPERATION, lambda o: s.planned_horizon(o) == 0),
            s.every(PLAN, GROUP, lambda p, g: both(no(s.deleted_base(p, g)), no(s.old_base(p, g)))),
            s.every(LOG, lambda log: both(no(s.deleted_log(log)), no(s.old_log(log)))),
        )  # fmt: skip

    def finds_files(self, s: Any, d: Term) -> Term:
        """True if no file that the read of d needs is deleted. In each file group, the read needs the newest base file
        that it kept, and the logs that it kept of the slice of this base file and of later slices.
        """

        def is_newest(g: Term, time: Term) -> Term:
            return s.every(PLAN, lambda p: implies(both(s.kept_plan(d, p), s.part(p, g)), s.barrier(p) <= time))

        return both(
            s.every(PLAN, GROUP, lambda q, g: implies(
                both(s.deleted_base(q, g), s.kept_plan(d, q)), no(is_newest(g, s.barrier(q))))),
            s.every(LOG, lambda log: implies(
                both(s.deleted_log(log), s.kept_write(d, s.write_of(log))),
                no(is_newest(s.group_of(log), s.completed(s.write_of(log)))))),
        )  # fmt: skip

    def readers(self) -> tuple[Move, ...]:
        refused = Move(
            "reader finds a file deleted", (READER,),
            lambda s, d: both(s.reading(d) == SURE, no(self.finds_files(s, d))),
            lambda s, d: {"reading": at(s.reading, d, to=choose(s.reads_at(d) < s.horizon(), REFUSED, LOST))},
            (READER_READS,),
        )  # fmt: skip
        return (*super().readers(), refused)

    def input_is_deleted(self, s: Any, p: Term, g: Term) -> Term:
        """True if a clean has deleted the base file or a log that the plan takes in the file group. The base file is
        that of the previous plan of the group, and the logs are those of its slice and of later ones.
        """

        def is_previous(time: Term) -> Term:
            return s.every(PLAN, lambda q: implies(
                both(s.part(q, g), s.barrier(q) < s.barrier(p)), s.barrier(q) <= time))  # fmt: skip

        return either(
            s.some(PLAN, lambda q: both(
                s.part(q, g), s.barrier(q) < s.barrier(p), s.deleted_base(q, g), is_previous(s.barrier(q)))),
            s.some(LOG, lambda log: both(
                s.group_of(log) == g, s.holds(p, log), s.deleted_log(log),
                is_previous(s.completed(s.write_of(log))))),
        )  # fmt: skip

    def giving_way(self) -> tuple[Move, ...]:
        finds = Move(
            "compactor finds its input deleted", (COMPACTOR, GROUP),
            lambda s, c, g: both(is_next(s, c, g), self.input_is_deleted(s, s.own_plan(c), g)),
            lambda s, c, g: {"work": at(s.work, c, to=IDLE), "without_files": at(s.without_files, c, to=False)},
            ("compactor_finds_input_cleaned",),
        )  # fmt: skip
        return (*super().giving_way(), finds)

    def counts(self, s: Any, q: Term, g: Term, h: Term) -> Term:
        """True if a clean with horizon h may delete the files of group g that are older than the base file of plan q.
        """
        if self.options.retention == "completion":
            return both(s.part(q, g), s.done(q), s.compacted(q) <= h)
        is_there = s.planned(q) if self.options.retention == "any_barrier" else s.done(q)
        return both(s.part(q, g), is_there, s.barrier(q) <= h)

    def is_older(self, s: Any, g: Term, h: Term, time: Term) -> Term:
        """True if a clean with horizon h may delete the logs of group g that completed at `time`, and base files with
        this barrier.
        """
        return s.some(PLAN, lambda q: both(self.counts(s, q, g, h), time < s.barrier(q)))

    def schedule_clean(self, s: Any, a: Term, o: Term, w: Term) -> Mapping[str, Update]:
        """Return the state updates that plan a clean whose horizon is the completion time of write w."""
        h = s.completed(w)
        learnt = {"horizon": lambda: greater(s.horizon(), h)} if self.early else {
            "planned_horizon": at(s.planned_horizon, o, to=h)}  # fmt: skip
        return {
            **self.plans(s, a, o), **learnt,
            "old_base": lambda p, g: either(
                s.old_base(p, g), both(s.part(p, g), self.is_older(s, g, h, s.barrier(p)))),
            "old_log": lambda log: either(s.old_log(log), both(
                published(s, s.write_of(log)), self.is_older(s, s.group_of(log), h, s.completed(s.write_of(log))))),
        }  # fmt: skip

    def when_published(self, s: Any, a: Term) -> Mapping[str, Update]:
        return {} if self.early else {"horizon": lambda: greater(s.horizon(), s.planned_horizon(s.operation_of(a)))}

    def actions(self) -> tuple[Move, ...]:
        schedules = Move(
            "cleaner schedules clean", (SERVICE, OPERATION, WRITE),
            lambda s, a, o, w: both(self.may_plan(s, a, o), published(s, w)),
            self.schedule_clean,
        )  # fmt: skip
        resumes = Move(
            "cleaner resumes clean", (SERVICE, OPERATION), self.may_resume_operation, self.takes_operation,
        )  # fmt: skip
        deletes = Move(
            "cleaner deletes files", (SERVICE, GROUP, SetParameter((PLAN,)), SetParameter((LOG,))),
            lambda s, a, g, bases, logs: when(is_alive(s, a, AT_WORK), lambda: both(
                s.every(PLAN, lambda p: implies(bases(p), s.old_base(p, g))),
                s.every(LOG, lambda log: implies(logs(log), both(s.group_of(log) == g, s.old_log(log)))),
            )),
            lambda s, a, g, bases, logs: {
                "deleted_base": lambda p, h: either(s.deleted_base(p, h), both(h == g, bases(p))),
                "deleted_log": lambda log: either(s.deleted_log(log), logs(log)),
            },
        )  # fmt: skip
        ends = self.finds_it_done("cleaner finds its clean completed")
        return (*super().actions(), schedules, resumes, deletes, ends)

    def clauses(self) -> dict[str, Formula]:
        def newer(s: Any, g: Term, time: Term) -> Term:
            return s.some(PLAN, lambda q: both(
                s.part(q, g), s.done(q), s.compacted(q) <= s.horizon(), time < s.barrier(q)))  # fmt: skip

        return super().clauses() | {
            "the horizon is never ahead of the clock": lambda s: both(s.horizon() >= 0, s.horizon() <= s.clock()),
            "an old base file has a newer one that was complete at the horizon": lambda s: s.every(
                PLAN, GROUP, lambda p, g: implies(s.old_base(p, g), both(s.part(p, g), newer(s, g, s.barrier(p))))),
            OLD_LOGS: lambda s: s.every(
                LOG, lambda log: implies(s.old_log(log), both(
                    published(s, s.write_of(log)), newer(s, s.group_of(log), s.completed(s.write_of(log)))))),
            **({} if self.early else {"a planned horizon is never ahead of the clock": lambda s: s.every(
                OPERATION, lambda o: s.planned_horizon(o) <= s.clock())}),
            "only old files are deleted": lambda s: both(
                s.every(PLAN, GROUP, lambda p, g: implies(s.deleted_base(p, g), s.old_base(p, g))),
                s.every(LOG, lambda log: implies(s.deleted_log(log), s.old_log(log)))),
            ANSWERS: lambda s: s.every(READER, lambda d: s.reading(d) != LOST),
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        """Return the names of all clauses, because the proof of every promise needs all of them."""
        return frozenset(self.clauses())

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            *(Claim(promise, "no read as of the horizon or later needs a deleted file", self.reads_are_served, by=READS)
              for promise in ("CLEAN", "QUIET")),
            # The model's PART says of cleaners that they divide the logs of a file group as readers do.
            Claim("PART", OLD_LOGS, self.clauses()[OLD_LOGS], by=READS),
            Claim("CLEAN", "no pending plan takes a deleted file", self.plans_are_served),
            Claim("CLEAN", ANSWERS, self.clauses()[ANSWERS]),
        )

    def reads_are_served(self, s: Any) -> Term:
        """True if no clean has deleted a file that a read at or after the horizon needs. In each file group, a read
        needs the newest base file that completed at or before the read time, and the logs of its slice.
        """
        t = any_time(s)

        def is_newest(g: Term, time: Term) -> Term:
            return s.every(PLAN, lambda p: implies(
                both(s.part(p, g), s.done(p), s.compacted(p) <= t), s.barrier(p) <= time))  # fmt: skip

        return implies(t >= s.horizon(), both(
            s.every(PLAN, GROUP, lambda q, g: implies(
                both(s.part(q, g), s.done(q), s.compacted(q) <= t, is_newest(g, s.barrier(q))),
                no(s.deleted_base(q, g)))),
            s.every(LOG, lambda log: implies(
                both(complete(s, s.write_of(log), t), is_newest(s.group_of(log), s.completed(s.write_of(log)))),
                no(s.deleted_log(log)))),
        ))  # fmt: skip

    def plans_are_served(self, s: Any) -> Term:
        """True if no clean has deleted an input of a pending plan. In each file group, a plan needs the newest
        completed base file, and the logs that the plan merges into it.
        """

        def takes(p: Term, q: Term, g: Term) -> Term:
            return both(s.part(p, g), no(s.done(p)), s.part(q, g), s.done(q), s.every(PLAN, lambda r: implies(
                both(s.part(r, g), s.done(r)), s.barrier(r) <= s.barrier(q))))  # fmt: skip

        return s.every(PLAN, PLAN, GROUP, lambda p, q, g: implies(takes(p, q, g), both(
            no(s.deleted_base(q, g)),
            s.every(LOG, lambda log: implies(
                both(s.group_of(log) == g, s.holds(p, log), no(s.holds(q, log))), no(s.deleted_log(log)))),
        )))  # fmt: skip


def greater(one: Term, other: Term) -> Term:
    return choose(one > other, one, other)
