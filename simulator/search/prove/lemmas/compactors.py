"""The actions of compactors in the core transition relation: schedule, run, resume and complete plans, and crash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model.mechanisms.crashes import ACTOR_CRASHES, LOCK_EXPIRES

from ..logic import Term, Update, at, both, choose, either, implies, no
from ..system import Move
from .options import Relations
from .state import (
    COMPACTOR,
    COMPLETING,
    GROUP,
    IDLE,
    LOG,
    PLAN,
    RUNNING,
    SCHEDULED,
    TIMED,
    all_bases_written,
    has_base,
    published,
    takes_up,
    tick,
)  # fmt: skip


def alive(s: Any, c: Term, work: int) -> Term:
    return both(s.work(c) == work, no(s.dead_compactor(c)))


def pending(s: Any, q: Term) -> Term:
    """True if the plan is scheduled and not completed."""
    return both(s.planned(q), no(s.done(q)))


def removes_files(s: Any, c: Term) -> Mapping[str, Update]:
    """Return the state updates by which a compactor deletes the base files of its rivals: other live compactors that
    run the same plan.

    A rival can find its files deleted only if the runner that deleted them does not complete the plan. The model
    therefore marks no rival in worlds without crashes and lost locks. The proof covers both.
    """

    def is_rival(b: Term) -> Term:
        files = s.some(GROUP, lambda g: s.base_written(b, g))
        return both(b != c, s.own_plan(b) == s.own_plan(c), s.work(b) > IDLE, no(s.dead_compactor(b)), files)

    return {"without_files": lambda b: either(s.without_files(b), both(s.marks_rivals(), is_rival(b)))}


def is_next(s: Any, c: Term, g: Term) -> Term:
    """True if the base file that the compactor writes next is that of the file group."""
    return both(
        alive(s, c, RUNNING), s.part(s.own_plan(c), g), no(s.base_written(c, g)),
        s.every(GROUP, lambda h: implies(
            both(s.group_before(h, g), s.part(s.own_plan(c), h)), s.base_written(c, h))),
    )  # fmt: skip


class Compactors(Relations):
    """Builds the actions of compactors in a transition relation."""

    def input_is_deleted(self, s: Any, p: Term, g: Term) -> Term:
        """True if a file of the group that the plan takes has been deleted."""
        return False

    def removes_files(self, s: Any, c: Term) -> Mapping[str, Update]:
        return removes_files(s, c)

    def takes(self, s: Any, log: Term) -> Term:
        """True if a plan scheduled now would include the log: the log is completed, and belongs to the newest slice of
        its file group.
        """
        w, g = s.write_of(log), s.group_of(log)
        complete = (
            both(published(s, w), s.completed(w) < s.clock() + 1)
            if self.options.plan_takes == "completed_before_barrier"
            else s.stored(log)
        )
        return both(complete, implies(has_base(s, g), self.slice_time(s, w) >= s.barrier(s.newest(g))))

    def new_part(self, s: Any, g: Term) -> Term:
        """True if a plan scheduled now would include the file group: no pending plan includes it, and it has a log that
        can be compacted.
        """
        idle = s.every(PLAN, lambda q: implies(s.part(q, g), s.done(q)))
        return both(idle, s.some(LOG, lambda log: both(s.group_of(log) == g, self.takes(s, log))))

    def new_content(self, s: Any, log: Term) -> Term:
        """True if a plan scheduled now would write the rows of the log to its base file."""
        g = s.group_of(log)
        merged = both(has_base(s, g), s.holds(s.newest(g), log))
        return both(self.new_part(s, g), either(merged, self.takes(s, log)))

    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        """True if the compactor is idle, the lock is free, and some file group has a log to compact."""
        return both(
            s.work(c) == IDLE, no(s.dead_compactor(c)), self.lock_is_free(s), no(s.planned(p)),
            s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.planned(q))),
            s.some(GROUP, lambda g: self.new_part(s, g)),
        )  # fmt: skip

    def schedule(self, s: Any, c: Term, p: Term) -> Mapping[str, Update]:
        """Return the state updates that schedule the plan p, with its file groups and the content of its base files."""
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

    def may_resume(self, s: Any, c: Term, p: Term) -> Term:
        """True if a compactor may run the plan, even while another compactor runs it. If `any_plan` is False, only the
        oldest pending plan may be run.
        """
        if self.options.any_plan:
            return pending(s, p)
        return both(pending(s, p), s.every(PLAN, lambda q: implies(pending(s, q), s.barrier(p) <= s.barrier(q))))

    def compactors(self) -> tuple[Move, ...]:
        return (*self.running(), *self.completing_plans(), *self.giving_way(), *self.dying_compactors())

    def running(self) -> tuple[Move, ...]:
        """Return the actions that schedule, start or resume a plan, and the actions that write base files."""
        return (
            Move(
                "compactor schedules plan", (COMPACTOR, PLAN),
                self.may_schedule, self.schedule,
            ),
            Move(
                "compactor starts plan", (COMPACTOR,),
                lambda s, c: both(alive(s, c, SCHEDULED), no(s.done(s.own_plan(c)))),
                lambda s, c: {
                    "work": at(s.work, c, to=RUNNING), "started": at(s.started, s.own_plan(c), to=True),
                    "runner": at(s.runner, s.own_plan(c), to=c),
                },
            ),
            Move(
                "compactor resumes plan", (COMPACTOR, PLAN),
                lambda s, c, p: both(alive(s, c, IDLE), self.may_resume(s, c, p)),
                lambda s, c, p: {
                    **takes_up(s, c, p, RUNNING), "started": at(s.started, p, to=True),
                    "runner": at(s.runner, p, to=c),
                },
            ),
            Move(
                "compactor writes base", (COMPACTOR, GROUP),
                lambda s, c, g: both(
                    is_next(s, c, g), no(self.input_is_deleted(s, s.own_plan(c), g)),
                ),
                lambda s, c, g: {"base_written": at(s.base_written, c, g, to=True)},
            ),
        )  # fmt: skip

    def completing_plans(self) -> tuple[Move, ...]:
        """Return the actions by which a compactor takes the lock, takes a completion time, and publishes its instant.
        """
        outside = self.outside

        def has_files(s: Any, c: Term, checks: bool) -> Term:
            return no(s.without_files(c)) if checks else True

        def removes(s: Any, c: Term, checks: bool) -> Mapping[str, Update]:
            return self.removes_files(s, c) if checks else {}

        return (
            Move(
                "compactor takes lock", (COMPACTOR,),
                lambda s, c: both(
                    alive(s, c, TIMED if outside else RUNNING), self.lock_is_free(s), all_bases_written(s, c),
                    no(s.done(s.own_plan(c))),
                ),
                lambda s, c: {
                    "compactor_locks": at(s.compactor_locks, c, to=True), "work": at(s.work, c, to=COMPLETING)
                },
            ),
            Move(
                "compactor takes completion time", (COMPACTOR,),
                lambda s, c: both(alive(s, c, RUNNING if outside else COMPLETING), all_bases_written(s, c),
                                  outside or s.compactor_locks(c), has_files(s, c, not outside)),
                lambda s, c: {
                    **removes(s, c, not outside), **tick(s),
                    "completing": at(s.completing, c, to=s.clock() + 1), "work": at(s.work, c, to=TIMED)
                },
            ),
            Move(
                "compactor publishes instant", (COMPACTOR,),
                lambda s, c: both(alive(s, c, COMPLETING if outside else TIMED), s.compactor_locks(c),
                                  has_files(s, c, outside)),
                lambda s, c: {
                    **removes(s, c, outside),
                    "compactor_locks": at(s.compactor_locks, c, to=False), "work": at(s.work, c, to=IDLE),
                    "done": at(s.done, s.own_plan(c), to=True),
                    "compacted": at(s.compacted, s.own_plan(c), to=s.completing(c)),
                },
            ),
        )  # fmt: skip

    def giving_way(self) -> tuple[Move, ...]:
        """Return the actions by which a compactor gives up a plan, because another compactor has completed the plan or
        has deleted this compactor's base files.
        """
        return (
            Move(
                "compactor finds its plan completed", (COMPACTOR,),
                lambda s, c: both(no(s.dead_compactor(c)), s.done(s.own_plan(c)), either(
                    s.work(c) == SCHEDULED,
                    both(s.work(c) == (TIMED if self.outside else RUNNING), all_bases_written(s, c),
                         self.lock_is_free(s)),
                )),
                lambda s, c: {"work": at(s.work, c, to=IDLE), "without_files": at(s.without_files, c, to=False)},
                ("compactor_finds_it_done",),
            ),
            Move(
                "compactor misses its files", (COMPACTOR,),
                lambda s, c: both(alive(s, c, COMPLETING), s.compactor_locks(c), s.without_files(c)),
                lambda s, c: {
                    "work": at(s.work, c, to=IDLE), "without_files": at(s.without_files, c, to=False),
                    "compactor_locks": at(s.compactor_locks, c, to=False),
                },
                ("compactor_misses_files",),
            ),
        )  # fmt: skip

    def dying_compactors(self) -> tuple[Move, ...]:
        return (
            Move(
                "compactor crashes", (COMPACTOR,),
                lambda s, c: both(s.work(c) > IDLE, no(s.dead_compactor(c))),
                lambda s, c: {
                    "dead_compactor": at(s.dead_compactor, c, to=True),
                    "work": at(s.work, c, to=choose(s.work(c) == TIMED, TIMED, RUNNING)),
                },
                (ACTOR_CRASHES,),
            ),
            Move(
                "lock of a dead compactor expires", (COMPACTOR,),
                lambda s, c: both(s.dead_compactor(c), s.compactor_locks(c)),
                lambda s, c: {"compactor_locks": at(s.compactor_locks, c, to=False)}, (LOCK_EXPIRES,),
            ),
        )  # fmt: skip
