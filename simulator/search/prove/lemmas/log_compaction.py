"""Log compaction: one log replaces all completed logs of a file slice, and has the position of the newest of them in
the merge order.

In each file group, the plan of a log compaction contains every completed log of the newest slice, including the logs of
earlier log compactions. As-of reads at or after the completion time of a log compaction use the compacted log instead
of the original logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR

from ..logic import Relation, Term, Update, at, both, choose, either, iff, implies, no
from ..system import Claim, Formula, Move
from . import options
from .giving_up import extended
from .services import AT_WORK, OPERATION, SERVICE, UNDER_LOCK, Services, is_alive
from .state import GROUP, LOG, PLAN, has_base, published

PLANS: Final = (
    Relation("logs_started", (OPERATION,)),
    Relation("logs_part", (OPERATION, GROUP)),
    Relation("covers", (OPERATION, LOG)),  # the log of the log compaction holds the records of the log
    Relation("log_written", (SERVICE, GROUP)),
    Relation("logs_deleted", (SERVICE,)),  # a rival that completes the plan has deleted the logs of this log compactor
)


@dataclass(frozen=True)
class LogCompactionOptions(options.CoreOptions):
    """The model options that affect log compaction, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier"] = "completed_before_barrier"
    slicing: Literal["completion"] = "completion"
    log_compaction_rank: Literal["inputs", "own"] = "inputs"
    log_compaction_window: Literal["excluded", "included"] = "excluded"


class LogCompactionLemmas(Services):
    """The core transition relation, extended by log compactors."""

    options: LogCompactionOptions
    kind = LOG_COMPACTOR.name

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *PLANS)

    def initially(self, s: Any) -> Term:
        return both(super().initially(s), s.every(OPERATION, lambda k: no(s.logs_started(k))),
            s.every(SERVICE, lambda a: no(s.logs_deleted(a))),
            s.every(OPERATION, GROUP, lambda k, g: no(s.logs_part(k, g))),
            s.every(OPERATION, LOG, lambda k, log: no(s.covers(k, log))))  # fmt: skip

    def new_part(self, s: Any, g: Term) -> Term:
        """True if a compaction plan may include the file group. No log compaction of the file group may be pending."""
        return both(super().new_part(s, g), self.is_idle(s, g))

    def is_idle(self, s: Any, g: Term) -> Term:
        return s.every(OPERATION, lambda k: implies(s.logs_part(k, g), s.operation_done(k)))

    def in_newest_slice(self, s: Any, log: Term) -> Term:
        w, g = s.write_of(log), s.group_of(log)
        return both(published(s, w), implies(has_base(s, g), s.completed(w) >= s.barrier(s.newest(g))))

    def new_logs(self, s: Any, g: Term) -> Term:
        """True if a log compaction scheduled now would include the file group. The newest slice of the group must
        contain at least two logs that have not been merged with each other.
        """

        def is_covered(a: Term, b: Term) -> Term:
            return s.some(OPERATION, lambda k: both(s.operation_done(k), s.covers(k, a), s.covers(k, b)))

        return both(self.is_idle(s, g), s.some(LOG, LOG, lambda a, b: both(
            a != b, s.group_of(a) == g, s.group_of(b) == g, self.in_newest_slice(s, a), self.in_newest_slice(s, b),
            no(is_covered(a, b)))))  # fmt: skip

    def schedule_logs(self, s: Any, a: Term, k: Term) -> Mapping[str, Update]:
        return {
            **self.plans(s, a, k),
            "logs_part": lambda m, g: choose(m == k, self.new_logs(s, g), s.logs_part(m, g)),
            "covers": lambda m, log: choose(
                m == k, both(self.new_logs(s, s.group_of(log)), self.in_newest_slice(s, log)), s.covers(m, log)),
        }  # fmt: skip

    def takes_operation(self, s: Any, a: Term, o: Term) -> dict[str, Update]:
        return {
            **super().takes_operation(s, a, o), "logs_deleted": at(s.logs_deleted, a, to=False),
            "log_written": lambda b, g: choose(b == a, False, s.log_written(b, g)),
        }  # fmt: skip

    def deletes_logs(self, s: Any, a: Term) -> Mapping[str, Update]:
        """Return the state updates by which a log compactor deletes the logs of its rivals (see `removes_files`)."""

        def is_rival(b: Term) -> Term:
            return both(
                b != a, s.operation_of(b) == s.operation_of(a), s.service_work(b) > 0, no(s.dead_service(b)),
                s.some(GROUP, lambda g: s.log_written(b, g)),
            )  # fmt: skip

        return {"logs_deleted": lambda b: either(s.logs_deleted(b), both(s.marks_rivals(), is_rival(b)))}

    def actions(self) -> tuple[Move, ...]:
        def starts(s: Any, k: Term) -> dict[str, Update]:
            return {"logs_started": at(s.logs_started, k, to=True)}

        schedules = Move(
            "log compactor schedules plan", (SERVICE, OPERATION),
            lambda s, a, k: both(self.may_plan(s, a, k), s.some(GROUP, lambda g: self.new_logs(s, g))),
            self.schedule_logs,
        )  # fmt: skip
        begins = Move(
            "log compactor starts plan", (SERVICE,),
            lambda s, a: is_alive(s, a, AT_WORK),
            lambda s, a: starts(s, s.operation_of(a)),
        )  # fmt: skip
        resumes = Move(
            "log compactor resumes plan", (SERVICE, OPERATION), self.may_resume_operation,
            lambda s, a, k: {**self.takes_operation(s, a, k), **starts(s, k)},
        )  # fmt: skip
        writes = Move(
            "log compactor writes log", (SERVICE, GROUP),
            lambda s, a, g: both(
                is_alive(s, a, AT_WORK), s.logs_started(s.operation_of(a)), s.logs_part(s.operation_of(a), g),
                no(s.log_written(a, g)),
                s.every(GROUP, lambda h: implies(
                    both(s.group_before(h, g), s.logs_part(s.operation_of(a), h)), s.log_written(a, h))),
            ),
            lambda s, a, g: {"log_written": at(s.log_written, a, g, to=True)},
        )  # fmt: skip
        def forgets(s: Any, a: Term) -> dict[str, Update]:
            return {"logs_deleted": at(s.logs_deleted, a, to=False)}

        ends = self.finds_it_done("log compactor finds its plan completed").extend(None, forgets)
        misses = Move(
            "log compactor misses its files", (SERVICE,),
            lambda s, a: both(is_alive(s, a, UNDER_LOCK), s.service_locks(a), s.logs_deleted(a)),
            lambda s, a: {
                **forgets(s, a),
                "service_work": at(s.service_work, a, to=0), "service_locks": at(s.service_locks, a, to=False),
            },
            ("log_compactor_misses_files",),
        )  # fmt: skip
        more = {
            f"{self.kind} takes lock": (lambda s, a: both(
                s.logs_started(s.operation_of(a)),
                s.every(GROUP, lambda g: implies(s.logs_part(s.operation_of(a), g), s.log_written(a, g)))), None),
            f"{self.kind} takes completion time": (lambda s, a: no(s.logs_deleted(a)), self.deletes_logs),
        }  # fmt: skip
        return (*extended(super().actions(), more), schedules, begins, resumes, writes, ends, misses)

    def delivered(self, s: Any, w: Term, after: Term, until: Term) -> Term:
        """True if an incremental read of (after, until] contains the write. With `log_compaction_window = included`, a
        log compaction that completed in (after, until] adds all writes whose logs it covers.
        """
        own = super().delivered(s, w, after, until)
        if self.options.log_compaction_window == "excluded":
            return own
        return either(own, s.some(OPERATION, LOG, lambda k, log: both(
            s.operation_done(k), s.covers(k, log), s.write_of(log) == w, after < s.operation_completed(k),
            s.operation_completed(k) <= until)))  # fmt: skip

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "only a log compaction that exists has parts": lambda s: both(
                s.every(OPERATION, lambda k: implies(s.logs_started(k), s.operation_planned(k))),
                s.every(OPERATION, GROUP, lambda k, g: implies(s.logs_part(k, g), s.operation_planned(k))),
            ),
            "a log compaction covers logs that completed before its request": lambda s: s.every(
                OPERATION, LOG, lambda k, log: implies(s.covers(k, log), both(
                    s.logs_part(k, s.group_of(log)), published(s, s.write_of(log)),
                    s.completed(s.write_of(log)) < s.operation_requested(k)))),
            "no barrier divides the logs that a log compaction covers": lambda s: s.every(
                PLAN, OPERATION, LOG, LOG, lambda p, k, a, b: implies(
                    both(s.covers(k, a), s.covers(k, b), s.group_of(a) == s.group_of(b), s.part(p, s.group_of(a))),
                    iff(s.completed(s.write_of(a)) < s.barrier(p), s.completed(s.write_of(b)) < s.barrier(p)))),
            "no log lies between those that a log compaction covers": contiguous,
            "of two log compactions of one log the later covers all that the earlier covers": nested,
            "at most one log compaction of a group is pending, and it is the latest": lambda s: s.every(
                OPERATION, OPERATION, GROUP, lambda k, m, g: implies(
                    both(s.logs_part(k, g), s.logs_part(m, g), no(s.operation_done(k)), k != m),
                    both(s.operation_done(m), s.operation_requested(m) < s.operation_requested(k)))),
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        return frozenset(self.clauses())

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("PART", "each completed log is read once: itself, in a base file, or in the latest log compaction "
                  "that covers it", self.read_once),
            # The relation has no records, so that the order of logs stands for the rows that a read merges.
            *(Claim(promise, "a log compaction ranks among other logs as the logs that it covers", self.same_rank)
              for promise in ("SNAP", "INCR", "QUIET")),
            Claim("LAWS", "a log compaction covers logs that are contiguous in completion order", contiguous),
        )  # fmt: skip

    def read_once(self, s: Any) -> Term:
        """True if no base file contains only some of the logs that a log compaction covers in the file group. In
        addition, a later log compaction must cover all logs of an earlier one that overlaps with it.
        """
        whole = s.every(PLAN, OPERATION, LOG, LOG, lambda p, k, a, b: implies(
            both(s.covers(k, a), s.covers(k, b), s.group_of(a) == s.group_of(b), s.part(p, s.group_of(a))),
            iff(s.holds(p, a), s.holds(p, b))))  # fmt: skip
        return both(whole, nested(s))

    def same_rank(self, s: Any) -> Term:
        def after(k: Term, a: Term, b: Term) -> Term:
            if self.options.log_compaction_rank == "own":
                return s.operation_completed(k) < s.completed(s.write_of(b))
            return s.every(LOG, lambda c: implies(
                both(s.covers(k, c), s.group_of(c) == s.group_of(a)),
                s.completed(s.write_of(c)) < s.completed(s.write_of(b))))  # fmt: skip

        return s.every(OPERATION, LOG, LOG, lambda k, a, b: implies(
            both(s.operation_done(k), s.covers(k, a), no(s.covers(k, b)), published(s, s.write_of(b)),
                 s.group_of(a) == s.group_of(b)),
            iff(s.completed(s.write_of(a)) < s.completed(s.write_of(b)), after(k, a, b))))  # fmt: skip


def contiguous(s: Any) -> Term:
    return s.every(OPERATION, LOG, LOG, LOG, lambda k, a, b, c: implies(
        both(s.covers(k, a), s.covers(k, c), s.group_of(a) == s.group_of(b), s.group_of(b) == s.group_of(c),
             published(s, s.write_of(b)), s.completed(s.write_of(a)) <= s.completed(s.write_of(b)),
             s.completed(s.write_of(b)) <= s.completed(s.write_of(c))),
        s.covers(k, b)))  # fmt: skip


def nested(s: Any) -> Term:
    return s.every(OPERATION, OPERATION, LOG, LOG, lambda k, m, a, b: implies(
        both(s.covers(k, a), s.covers(m, a), s.covers(k, b), s.group_of(a) == s.group_of(b),
             s.operation_requested(k) <= s.operation_requested(m)),
        s.covers(m, b)))  # fmt: skip
