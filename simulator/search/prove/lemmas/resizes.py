"""Resizes by cut-over: the ranges of keys get other file groups while writers go on, and no write is lost.

A group of the relation is a *range* of keys, and a *layout* says which ranges share a file group. A resizer acts like a
compactor whose plan takes all ranges. It copies what completed since the resize was requested, and completes the resize
if it finds no such write under the lock. A writer reads the current layout before it writes. If it finds another one
under the lock, it puts its logs again.

A *generation* is the requested time of the resize that made the file groups of a table; the first groups have 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from nbcc.model.kernel.compactor import COMPACTOR as COMPACTORS
from nbcc.model.mechanisms.resizes.mechanism import RESIZER

from ..logic import Relation, Sort, Term, Update, at, both, choose, either, iff, implies, no, when
from ..system import Claim, Formula, Move
from . import core, options
from .compactors import alive, pending
from .state import (
    COMPACTOR,
    COMPLETING,
    GROUP,
    IDLE,
    LOCKED,
    LOG,
    PLAN,
    READY,
    RUNNING,
    SCHEDULED,
    TIMED,
    WRITE,
    WRITING,
    has_base,
    published,
    takes_up,
    tick,
)  # fmt: skip

LAYOUT: Final = Sort("Layout")
RESIZES: Final = (
    Relation("runs_resizes", (COMPACTOR,), fixed=True),
    Relation("shares", (LAYOUT, GROUP, GROUP), fixed=True),  # the two ranges have one file group
    Relation("resizes", (PLAN,)),  # the plan is that of a resize
    Relation("layout_of", (PLAN,), LAYOUT),
    Relation("copied", (PLAN,), "time"),  # the resize lists copies of what completed up to this time
    Relation("copied_to", (COMPACTOR,), "time"),  # the newest late log that a resizer has found; 0: none
    Relation("behind", (COMPACTOR,)),  # a resizer has found late logs, and has not copied them yet
    Relation("current", (), "time"),  # the generation of the newest completed resize
    Relation("current_layout", (), LAYOUT),
    Relation("made_by", (WRITE,), "time"),  # the generation of the file groups that have the logs of the write
    Relation("layout_in", (WRITE,), LAYOUT),
)
ONE_PENDING: Final = "at most one plan of a group is pending"
NEWEST: Final = "`newest` has the greatest barrier of the plans of a group"


@dataclass(frozen=True)
class ResizeOptions(options.CoreOptions):
    """The model options that affect resizes, with their supported values. A world with a resizer has no other ones."""

    slicing: Literal["completion"] = "completion"
    completion_time: Literal["under_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier"] = "completed_before_barrier"
    listing: Literal["twice"] = "twice"
    read_time: Literal["settled"] = "settled"
    visibility: Literal["completed"] = "completed"
    as_of_axis: Literal["completion"] = "completion"
    incremental_axis: Literal["completion"] = "completion"
    resizing: Literal["cut_over"] = "cut_over"
    mapping_check: Literal["under_lock", "at_open"] = "under_lock"


class ResizeLemmas(core.Core):
    """The core transition relation, extended by resizers."""

    options: ResizeOptions

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *RESIZES)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.current() == 0,
            s.every(PLAN, lambda p: no(s.resizes(p))), s.every(COMPACTOR, lambda c: no(s.behind(c))),
        )  # fmt: skip

    # Reads.

    def opens(self, s: Any, w: Term, complete: Callable[[Term], Term]) -> Term:
        """True if a read finds the logs of the write in the file groups that it opens: those of the newest resize for
        which the predicate `complete` is true, or the first ones. The base files of the resize have what completed
        before its requested time.
        """

        def is_shown(r: Term) -> Term:
            return when(both(s.resizes(r), complete(r)), lambda: s.every(PLAN, lambda q: implies(
                both(s.resizes(q), complete(q)), s.barrier(q) <= s.barrier(r))))  # fmt: skip

        return both(
            s.every(PLAN, lambda r: implies(is_shown(r), either(
                s.completed(w) < s.barrier(r), s.completed(w) <= s.copied(r), s.made_by(w) == s.barrier(r)))),
            either(s.made_by(w) == 0, s.some(PLAN, lambda r: both(s.resizes(r), complete(r)))),
        )  # fmt: skip

    def opens_at(self, s: Any, log: Term, t: Term) -> Term:
        return self.opens(s, s.write_of(log), lambda r: both(s.done(r), s.compacted(r) <= t))

    def in_logs(self, s: Any, q: Term, log: Term, t: Term) -> Term:
        return when(super().in_logs(s, q, log, t), lambda: self.opens_at(s, log, t))

    def visits(self, s: Any, log: Term, t: Term) -> Term:
        return self.opens_at(s, log, t)

    def readable(self, s: Any, q: Term, g: Term, t: Term) -> Term:
        """True if a read as of t may use the base file: it is in a file group that the read opens."""
        return when(super().readable(s, q, g, t), lambda: s.every(PLAN, lambda r: implies(
            both(s.resizes(r), s.done(r), s.compacted(r) <= t), s.barrier(r) <= s.barrier(q))))  # fmt: skip

    def all_there(self, s: Any) -> Term:
        """True if readers find each log of a completed write in the file groups that they open now."""
        return s.every(LOG, lambda log: implies(
            published(s, s.write_of(log)), self.opens(s, s.write_of(log), s.done)))  # fmt: skip

    # Writers.

    def writing(self) -> tuple[Move, ...]:
        starts = {"writer starts writing": self.reads_layout, "writer writes log": self.puts_file}
        return tuple(each.extend(None, starts.get(each.name)) for each in super().writing())

    def reads_layout(self, s: Any, w: Term) -> Mapping[str, Update]:
        return {"made_by": at(s.made_by, w, to=s.current()), "layout_in": at(s.layout_in, w, to=s.current_layout())}

    def puts_file(self, s: Any, log: Term) -> Mapping[str, Update]:
        """Return the state updates of a writer that puts the logs of all ranges in one file group, as one file."""
        w = s.write_of(log)
        return {"stored": lambda other: either(s.stored(other), both(
            s.write_of(other) == w, s.shares(s.layout_in(w), s.group_of(log), s.group_of(other))))}  # fmt: skip

    def completing_writes(self) -> tuple[Move, ...]:
        if self.options.mapping_check == "at_open":
            return super().completing_writes()
        checks = {"writer takes completion time": lambda s, w: s.made_by(w) == s.current()}
        finds = Move(
            "writer finds another mapping", (WRITE,),
            lambda s, w: both(self.can_write(s, w, LOCKED), s.writer_locks(w), s.made_by(w) != s.current()),
            lambda s, w: {
                **self.reads_layout(s, w), "writer_locks": at(s.writer_locks, w, to=False),
                "phase": at(s.phase, w, to=WRITING),
                "stored": lambda log: both(s.stored(log), s.write_of(log) != w),
            },
        )  # fmt: skip
        return (*(each.extend(checks.get(each.name)) for each in super().completing_writes()), finds)

    # Compactors and resizers.

    def takes(self, s: Any, log: Term) -> Term:
        return when(super().takes(s, log), lambda: self.opens(s, s.write_of(log), s.done))

    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_schedule(s, c, p), no(s.runs_resizes(c)))

    def may_resume(self, s: Any, c: Term, p: Term) -> Term:
        """True if the actor may run the plan: a compactor that of a compaction, a resizer that of a resize."""
        of_its_kind = both(pending(s, p), iff(s.runs_resizes(c), s.resizes(p)))
        if self.options.any_plan:
            return of_its_kind
        return both(of_its_kind, s.every(PLAN, lambda q: implies(
            both(pending(s, q), iff(s.resizes(p), s.resizes(q))), s.barrier(p) <= s.barrier(q))))  # fmt: skip

    def removes_files(self, s: Any, c: Term) -> Mapping[str, Update]:
        """Return the state updates by which a compactor deletes the files of its rivals. A resizer lists its own."""
        removed = super().removes_files(s, c)["without_files"]
        return {"without_files": lambda b: choose(s.runs_resizes(c), s.without_files(b), removed(b))}

    def may_resize(self, s: Any, c: Term, p: Term, layout: Term) -> Term:
        """True if the resizer is idle, the lock is free, no resize is pending, and the layout is another one."""
        return both(
            s.runs_resizes(c), alive(s, c, IDLE), self.lock_is_free(s), no(s.planned(p)), layout != s.current_layout(),
            s.every(PLAN, lambda q: both(implies(s.plan_before(q, p), s.planned(q)),
                                         implies(s.resizes(q), s.done(q)))),
        )  # fmt: skip

    def in_completed_files(self, s: Any, log: Term) -> Term:
        """True if a completed base file has the log, or if it is a completed log that a read merges with the newest
        one. Each completed base file has what older ones have.
        """
        w, g = s.write_of(log), s.group_of(log)
        return either(
            s.some(PLAN, lambda q: both(s.part(q, g), s.done(q), s.holds(q, log))),
            both(published(s, w), self.opens(s, w, s.done), s.every(PLAN, lambda q: implies(
                both(s.part(q, g), s.done(q)), self.slice_time(s, w) >= s.barrier(q)))),
        )  # fmt: skip

    def plan_resize(self, s: Any, c: Term, p: Term, layout: Term) -> Mapping[str, Update]:
        """Return the state updates that plan a resize. A compaction that is pending stays pending, and the base files
        of the resize do not build on it.
        """
        return {
            **tick(s), **takes_up(s, c, p, SCHEDULED), "copied_to": at(s.copied_to, c, to=0),
            "planned": at(s.planned, p, to=True), "barrier": at(s.barrier, p, to=s.clock() + 1),
            "runner": at(s.runner, p, to=c), "resizes": at(s.resizes, p, to=True),
            "layout_of": at(s.layout_of, p, to=layout), "copied": at(s.copied, p, to=s.clock() + 1),
            "part": lambda q, g: either(q == p, s.part(q, g)),
            "holds": lambda q, log: choose(q == p, self.in_completed_files(s, log), s.holds(q, log)),
        }  # fmt: skip

    def cancel(self, s: Any, c: Term) -> Mapping[str, Update]:
        """Return the state updates that remove the plan of a resize, so that the next plan may have its place."""
        p = s.own_plan(c)
        return {
            "work": at(s.work, c, to=IDLE), "behind": at(s.behind, c, to=False),
            "planned": at(s.planned, p, to=False), "started": at(s.started, p, to=False),
            "barrier": at(s.barrier, p, to=0), "resizes": at(s.resizes, p, to=False), "copied": at(s.copied, p, to=0),
            "part": lambda q, g: both(q != p, s.part(q, g)), "holds": lambda q, log: both(q != p, s.holds(q, log)),
            "seen_plan": lambda d, q: both(q != p, s.seen_plan(d, q)),
        }  # fmt: skip

    def is_late(self, s: Any, c: Term, w: Term) -> Term:
        """True if the write completed after all that the files of the resizer have."""
        return both(published(s, w), s.completed(w) > s.barrier(s.own_plan(c)), s.completed(w) > s.copied_to(c))

    def compactors(self) -> tuple[Move, ...]:
        return (*map(self.of_resizers_too, super().compactors()), *self.resizers())

    def of_resizers_too(self, step: Move) -> Move:
        """Return a step of compactors that resizers take, too."""

        def goes_on(s: Any, c: Term) -> Term:
            return no(s.behind(c))

        guards: dict[str, Callable[..., Term]] = {
            "compactor takes lock": goes_on, "compactor finds its plan completed": goes_on,
            "compactor takes completion time": lambda s, c: implies(
                s.runs_resizes(c), s.every(WRITE, lambda w: no(self.is_late(s, c, w)))),
        }  # fmt: skip
        updates: dict[str, Callable[..., Mapping[str, Update]]] = {
            "compactor resumes plan": lambda s, c, p: {"copied_to": at(s.copied_to, c, to=0)},
            "compactor writes base": lambda s, c, g: {"base_written": lambda b, h: either(s.base_written(b, h), both(
                b == c, either(g == h, both(s.resizes(s.own_plan(c)), s.shares(s.layout_of(s.own_plan(c)), g, h)))))},
            "compactor takes completion time": lambda s, c: {"copied": at(s.copied, s.own_plan(c), to=choose(
                no(s.runs_resizes(c)), s.copied(s.own_plan(c)), choose(
                    s.copied_to(c) > s.barrier(s.own_plan(c)), s.copied_to(c), s.barrier(s.own_plan(c)))))},
            "compactor publishes instant": lambda s, c: {
                "current": lambda: choose(s.runs_resizes(c), s.barrier(s.own_plan(c)), s.current()),
                "current_layout": lambda: choose(s.runs_resizes(c), s.layout_of(s.own_plan(c)), s.current_layout()),
                "newest": lambda g: choose(s.runs_resizes(c), s.own_plan(c), s.newest(g))},
            "compactor crashes": lambda s, c: {"behind": at(s.behind, c, to=False)},
        }  # fmt: skip
        of_resizers = (name.replace(COMPACTORS.name, RESIZER.name).replace("starts_plan", "starts_resize")
                       for name in step.stands_for)  # fmt: skip
        others = tuple(dict.fromkeys((*step.stands_for, *of_resizers)))
        return replace(step, others=others).extend(guards.get(step.name), updates.get(step.name))

    def resizers(self) -> tuple[Move, ...]:
        return (
            Move("resizer schedules resize", (COMPACTOR, PLAN, LAYOUT), self.may_resize, self.plan_resize),
            Move(
                "resizer finds late logs", (COMPACTOR, WRITE),
                lambda s, c, w: both(
                    s.runs_resizes(c), alive(s, c, COMPLETING), s.compactor_locks(c), self.is_late(s, c, w),
                    s.every(WRITE, lambda v: implies(published(s, v), s.completed(v) <= s.completed(w)))),
                lambda s, c, w: {
                    "copied_to": at(s.copied_to, c, to=s.completed(w)), "behind": at(s.behind, c, to=True),
                    "work": at(s.work, c, to=RUNNING), "compactor_locks": at(s.compactor_locks, c, to=False),
                },
            ),
            Move(
                "resizer copies logs", (COMPACTOR,), lambda s, c: both(alive(s, c, RUNNING), s.behind(c)),
                lambda s, c: {"behind": at(s.behind, c, to=False)},
            ),
            Move(
                "resizer cancels resize", (COMPACTOR,),
                lambda s, c: both(
                    s.runs_resizes(c), either(alive(s, c, SCHEDULED), alive(s, c, RUNNING)), self.lock_is_free(s),
                    no(s.done(s.own_plan(c))),
                    s.every(COMPACTOR, lambda b: implies(both(b != c, s.own_plan(b) == s.own_plan(c)),
                                                         s.work(b) == IDLE))),
                self.cancel,
            ),
        )  # fmt: skip

    # The invariant.

    def clauses(self) -> dict[str, Formula]:
        def is_pending(s: Any, p: Term) -> Term:
            return both(s.resizes(p), no(s.done(p)))

        others = {name: each for name, each in super().clauses().items() if name not in (ONE_PENDING, NEWEST)}
        return others | {
            "a resize takes all ranges": lambda s: s.every(
                PLAN, GROUP, lambda p, g: implies(s.resizes(p), both(s.planned(p), s.part(p, g)))),
            "a resizer runs resizes, and no other actor does": lambda s: s.every(COMPACTOR, lambda c: both(
                implies(s.work(c) > IDLE, iff(s.runs_resizes(c), s.resizes(s.own_plan(c)))),
                implies(s.behind(c), both(s.runs_resizes(c), s.work(c) == RUNNING)))),
            f"{ONE_PENDING}, except that a resize may follow a pending compaction": lambda s: s.every(
                PLAN, PLAN, GROUP, lambda p, q, g: implies(
                    both(s.part(p, g), s.part(q, g), s.barrier(p) < s.barrier(q)),
                    either(both(s.done(p), s.compacted(p) < s.barrier(q)), both(no(s.resizes(p)), s.resizes(q))))),
            f"{NEWEST}, pending resizes excepted": lambda s: s.every(PLAN, GROUP, lambda p, g: implies(
                both(s.part(p, g), no(is_pending(s, p))),
                both(has_base(s, g), s.barrier(p) <= s.barrier(s.newest(g)), no(is_pending(s, s.newest(g)))))),
            "the current generation is that of the newest completed resize": lambda s: both(
                s.current() >= 0, self.is_generation(s, s.current()), s.every(PLAN, lambda r: implies(
                    s.resizes(r), iff(s.done(r), s.barrier(r) <= s.current())))),
            "a write is in the file groups of a completed resize, or in the first ones": lambda s: s.every(
                WRITE, lambda w: implies(s.phase(w) >= WRITING, both(
                    self.is_generation(s, s.made_by(w)), s.made_by(w) <= s.current()))),
            "a write that completes is in the current file groups": lambda s: s.every(WRITE, lambda w: implies(
                both(s.phase(w) == READY, no(s.dead_writer(w))), s.made_by(w) == s.current())),
            "a completed write is in the file groups that were current when it completed": lambda s: s.every(
                WRITE, PLAN, lambda w, r: implies(
                    both(published(s, w), s.resizes(r), s.done(r)), iff(
                        s.compacted(r) < s.completed(w), s.barrier(r) <= s.made_by(w)))),
            "a resizer that completes has copied all that has completed": lambda s: s.every(
                COMPACTOR, WRITE, lambda c, w: implies(
                    both(s.runs_resizes(c), alive(s, c, TIMED), published(s, w)), self.is_copied(s, s.own_plan(c), w))),
            "a completed resize has what completed before it": lambda s: s.every(PLAN, WRITE, lambda r, w: implies(
                both(s.resizes(r), s.done(r), published(s, w), s.completed(w) < s.compacted(r)),
                self.is_copied(s, r, w))),
        }  # fmt: skip

    def is_generation(self, s: Any, time: Term) -> Term:
        return either(time == 0, s.some(PLAN, lambda r: both(s.resizes(r), s.done(r), s.barrier(r) == time)))

    def is_copied(self, s: Any, r: Term, w: Term) -> Term:
        """True if the resize has the logs of the write, in its base files or as copies."""
        return either(s.completed(w) < s.barrier(r), s.completed(w) <= s.copied(r))

    def common(self) -> frozenset[str]:
        return frozenset(self.clauses())

    def claims_of_the_core(self) -> tuple[Claim, ...]:
        about = ("a read as of any time finds exactly the logs that completed by then, in the file groups that it "
                 "opens, and readers have answered what it contains")  # fmt: skip
        return tuple(replace(claim, about=about) if claim.promise == "SNAP" else claim
                     for claim in super().claims_of_the_core())  # fmt: skip
