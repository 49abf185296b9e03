"""Compactors that use a decision log: one entry commits a compaction's plan, and a later entry commits its completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from nbcc.model.mechanisms.lost_locks import LOCK_IS_LOST

from ..logic import Sort, Term, Update, at, both, choose, either, implies, no
from ..system import Move
from . import core, options
from .compactors import removes_files
from .numbers import (
    CLAIMED,
    DECIDED,
    REFUSED,
    WAITING,
    counts_too,
    is_caught_up,
    number_is_taken,
    passes,
    released_plan,
)
from .state import COMPACTOR, COMPLETING, IDLE, PLAN, RUNNING, SCHEDULED, TIMED, WRITE, all_bases_written, published

PUBLISHES_DECIDED: Final = ("writer_publishes_decided", "compactor_publishes_decided", "compactor_finishes_decided")


@dataclass(frozen=True)
class DecidedPlanOptions(options.CoreOptions):
    """The model options that affect the decision log, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier"] = "completed_before_barrier"
    decision: Literal["log"] = "log"
    claims: Literal["every_time", "none"] = "every_time"
    tombstone_logs: Literal["by_commit", "by_time"] = "by_commit"


class DecidedPlans(core.Core):
    """The core transition relation, with compactors that commit by putting the next entry of the decision log."""

    options: DecidedPlanOptions

    def claim(self, s: Any, t: Term) -> Term:
        """True if an actor can now claim time t (reserve it by put-if-absent). With `claims = every_time`, only times
        later than the clock can be claimed.
        """
        return t > s.clock() if self.options.claims == "every_time" else t >= 0

    def times_of_compactor(self, s: Any, c: Term, to: Term) -> Mapping[str, Update]:
        asks = s.work(c) == IDLE
        return {
            "asked_barrier": at(s.asked_barrier, c, to=choose(asks, to, s.asked_barrier(c))),
            "completing": at(s.completing, c, to=choose(asks, s.completing(c), to)),
        }

    def refused(self, kind: str, sort: Sort, waits: str, times: Any) -> tuple[Move, ...]:
        """Return two actions: an actor finds that another actor has claimed its time, and then reads the clock again.
        """

        def waited(s: Any, x: Term) -> Term:
            return (
                choose(s.phase(x) == IDLE, s.asked(x), s.completed(x)) if sort == WRITE
                else choose(s.work(x) == IDLE, s.asked_barrier(x), s.completing(x))
            )  # fmt: skip

        def step(s: Any, x: Term, to: int) -> dict[str, Update]:
            return {waits: at(getattr(s, waits), x, to=to)}

        return (
            Move(
                f"{kind} finds its time claimed", (sort,),
                lambda s, x: both(getattr(s, waits)(x) == WAITING, no(self.claim(s, waited(s, x)))),
                lambda s, x: step(s, x, REFUSED), (f"{kind}_waits",),
            ),
            Move(
                f"{kind} reads clock again", (sort,), lambda s, x: getattr(s, waits)(x) == REFUSED,
                lambda s, x: {**step(s, x, WAITING), **times(s, x, s.clock() + 1)},
            ),
        )  # fmt: skip

    def compactors(self) -> tuple[Move, ...]:
        core_actions = {action.name: action for action in super().compactors()}
        same = ("compactor starts plan", "compactor writes base")
        lock = replace(core_actions["compactor takes lock"], guard=lambda s, c: both(
            s.work(c) == RUNNING, s.compactor_waits(c) == 0, self.lock_is_free(s), all_bases_written(s, c)))
        resumes = core_actions["compactor resumes plan"].extend(lambda s, c, p: s.compactor_waits(c) == 0)
        refused = self.refused("compactor", COMPACTOR, "compactor_waits", self.times_of_compactor)
        return (*self.planning(), *(core_actions[name] for name in same), lock, resumes, *refused,
                *self.deciding_plans(), *self.giving_way())  # fmt: skip

    def may_resume(self, s: Any, c: Term, p: Term) -> Term:
        """True if the plan is scheduled and its completion is not decided, whether or not it is published."""

        def is_open(q: Term) -> Term:
            return both(s.planned(q), no(s.decided_plan(q)))

        if self.options.any_plan:
            return is_open(p)
        return both(is_open(p), s.every(PLAN, lambda q: implies(is_open(q), s.barrier(p) <= s.barrier(q))))

    def giving_way(self) -> tuple[Move, ...]:
        """Return the actions by which a compactor gives up a plan. The compactor checks when it is about to take a
        completion time, because it may have lost the lock since it took it.
        """

        def gives_up(s: Any, c: Term) -> dict[str, Update]:
            return {"work": at(s.work, c, to=IDLE), "without_files": at(s.without_files, c, to=False),
                    "compactor_locks": at(s.compactor_locks, c, to=False)}  # fmt: skip

        def commits(s: Any, c: Term) -> Term:
            return both(s.work(c) == COMPLETING, s.compactor_waits(c) == 0)

        return (
            Move(
                "compactor finds its plan completed", (COMPACTOR,),
                lambda s, c: both(s.done(s.own_plan(c)), either(s.work(c) == SCHEDULED, commits(s, c))), gives_up,
                ("compactor_finds_it_done",),
            ),
        )  # fmt: skip

    def takes(self, s: Any, log: Term) -> Term:
        """True if a plan scheduled in the state `s` would include `log`. A plan includes every published log of the
        newest slice of each of its file groups.
        """
        w, g = s.write_of(log), s.group_of(log)
        has_base = s.part(s.newest(g), g)
        return both(published(s, w), implies(has_base, self.slice_time(s, w) >= s.barrier(s.newest(g))))

    def planning(self) -> tuple[Move, ...]:
        takes = Move(
            "compactor takes barrier", (COMPACTOR, PLAN),
            lambda s, c, p: both(self.may_schedule(s, c, p), s.compactor_waits(c) == 0, is_caught_up(s)),
            lambda s, c, p: {
                "compactor_locks": at(s.compactor_locks, c, to=True),
                "asked_barrier": at(s.asked_barrier, c, to=s.clock() + 1),
                "compactor_waits": at(s.compactor_waits, c, to=WAITING),
            },
        )  # fmt: skip
        claims = Move(
            "compactor claims its barrier", (COMPACTOR,),
            lambda s, c: both(
                s.work(c) == IDLE, s.compactor_waits(c) == WAITING, self.claim(s, s.asked_barrier(c))
            ),
            lambda s, c: {
                **passes(s, s.asked_barrier(c)), "compactor_waits": at(s.compactor_waits, c, to=CLAIMED)
            },
            ("compactor_waits",),
        )  # fmt: skip
        puts = Move(
            "compactor puts plan", (COMPACTOR, PLAN),
            lambda s, c, p: both(
                s.compactor_waits(c) == CLAIMED, no(s.late_compactor(c)), no(s.planned(p)),
                s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.planned(q))),
                s.every(PLAN, lambda q: implies(s.planned(q), s.barrier(q) != s.asked_barrier(c))),
            ),
            lambda s, c, p: {
                **self.schedule(s, c, p), "clock": s.clock, "barrier": at(s.barrier, p, to=s.asked_barrier(c)),
                **released_plan(s, c), **number_is_taken(s),
                "late_compactor": lambda b: both(b != c, either(s.late_compactor(b), counts_too(s, b))),
            },
        )  # fmt: skip
        gives_up = Move(
            "compactor gives its plan up", (COMPACTOR,),
            lambda s, c: both(s.compactor_waits(c) == CLAIMED, either(s.late_compactor(c), s.some(
                PLAN, lambda q: both(s.planned(q), s.barrier(q) == s.asked_barrier(c))))),
            lambda s, c: {**released_plan(s, c), "late_compactor": at(s.late_compactor, c, to=False)},
            ("compactor_puts_plan",),
        )  # fmt: skip
        return (takes, claims, puts, gives_up)

    def deciding_plans(self) -> tuple[Move, ...]:
        return (
            Move(
                "compactor takes completion time", (COMPACTOR,),
                lambda s, c: both(s.work(c) == COMPLETING, s.compactor_waits(c) == 0, all_bases_written(s, c),
                                  is_caught_up(s), no(s.done(s.own_plan(c))), no(s.without_files(c))),
                lambda s, c: {
                    "completing": at(s.completing, c, to=s.clock() + 1),
                    "compactor_waits": at(s.compactor_waits, c, to=WAITING),
                },
            ),
            Move(
                "compactor claims its completion time", (COMPACTOR,),
                lambda s, c: both(
                    s.work(c) == COMPLETING, s.compactor_waits(c) == WAITING, self.claim(s, s.completing(c))
                ),
                lambda s, c: {
                    **passes(s, s.completing(c)), "compactor_waits": at(s.compactor_waits, c, to=0),
                    "work": at(s.work, c, to=TIMED),
                },
                ("compactor_waits",),
            ),
            Move(
                "compactor decides", (COMPACTOR,), lambda s, c: both(s.work(c) == TIMED, no(s.late_compactor(c))),
                lambda s, c: {
                    **number_is_taken(s), "work": at(s.work, c, to=DECIDED),
                    "decided_plan": at(s.decided_plan, s.own_plan(c), to=True),
                    "compacted": at(s.compacted, s.own_plan(c), to=s.completing(c)),
                    "late_compactor": lambda b: both(b != c, either(s.late_compactor(b), counts_too(s, b))),
                },
                ("compactor_decides_instant",),
            ),
            Move(
                "compactor finds the number taken", (COMPACTOR,),
                lambda s, c: both(s.work(c) == TIMED, s.late_compactor(c)),
                lambda s, c: {
                    "late_compactor": at(s.late_compactor, c, to=False), "work": at(s.work, c, to=COMPLETING),
                    "completing": at(s.completing, c, to=0),
                },
                ("compactor_decides_instant",),
            ),
            Move(
                "compactor publishes instant", (COMPACTOR,), lambda s, c: s.work(c) == DECIDED,
                lambda s, c: {
                    **removes_files(s, c), "done": at(s.done, s.own_plan(c), to=True), "work": at(s.work, c, to=IDLE),
                    "compactor_locks": at(s.compactor_locks, c, to=False),
                },
            ),
            Move(
                "another actor publishes a decided compaction", (PLAN,),
                lambda s, p: both(s.decided_plan(p), no(s.done(p))),
                lambda s, p: {"done": at(s.done, p, to=True)}, PUBLISHES_DECIDED,
            ),
            Move(
                "lock of a compactor is lost", (COMPACTOR,), lambda s, c: s.compactor_locks(c),
                lambda s, c: {"compactor_locks": at(s.compactor_locks, c, to=False)}, (LOCK_IS_LOST,),
            ),
        )  # fmt: skip
