"""Optimistic writers alongside non-blocking writers: an optimistic write aborts if another write to one of its file
groups completes during the optimistic write.

An optimistic writer lists the timeline when it requests its instant. Under the lock, an optimistic writer checks for
conflicts with the writes that completed after its own request, and then publishes or aborts. The proof covers every mix
of optimistic and non-blocking writers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..logic import Relation, Term, at, both, choose, iff, implies, no
from ..system import Claim, Formula, Move
from . import options
from .giving_up import GivingUp, extended
from .state import IDLE, LOCKED, LOG, READY, WRITE, WRITING, all_stored, published

CHECKS: Final = (
    Relation("optimistic", (WRITE,), fixed=True),
    Relation("sealed", (WRITE, WRITE)),  # the second was completed when the first sealed its timeline
    Relation("passed", (WRITE,)),  # the writer found no conflict
)


@dataclass(frozen=True)
class OptimisticOptions(options.CoreOptions):
    """The model options that affect conflict checks, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    concurrency: Literal["nbcc", "occ"] = "nbcc"
    conflict_check: Literal["under_lock", "before_lock"] = "under_lock"
    conflict_window: Literal["completion", "requested"] = "completion"
    conflict_by: Literal["bucket"] = "bucket"
    timeline: Literal["sealed"] = "sealed"
    early_detection: Literal["off"] = "off"
    priority: Literal["writer"] = "writer"


class Optimistic(GivingUp):
    """The core transition relation, extended by optimistic writers."""

    options: OptimisticOptions

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *CHECKS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.every(WRITE, lambda w: no(s.passed(w))),
            s.every(WRITE, WRITE, lambda w, v: no(s.sealed(w, v))),
        )  # fmt: skip

    def conflicts(self, s: Any, w: Term) -> Term:
        """True if another write to a file group of write w has completed since w was requested."""
        return s.some(WRITE, lambda v: both(
            published(s, v), v != w, share_group(s, w, v), self.is_concurrent(s, w, v)))  # fmt: skip

    def is_concurrent(self, s: Any, w: Term, v: Term) -> Term:
        """True if the conflict check of write w must consider the completed write v."""
        if self.options.conflict_window == "completion":
            return no(s.sealed(w, v))
        return s.every(WRITE, lambda u: implies(s.sealed(w, u), s.requested(v) > s.requested(u)))

    def writers(self) -> tuple[Move, ...]:
        early = self.options.conflict_check == "before_lock"
        looks: dict[str, tuple[Callable[..., Term] | None, Any]] = {
            "writer requests instant": (None, lambda s, w: {
                "sealed": lambda u, v: choose(u == w, both(s.optimistic(w), published(s, v)), s.sealed(u, v))}),
            "writer takes completion time": (has_passed, None),
            "writer publishes instant": (None, self.forgets),
        }  # fmt: skip
        if early:
            looks["writer takes lock"] = (has_passed, None)
        passes = Move(
            "writer passes check", (WRITE,),
            lambda s, w: both(
                s.optimistic(w), no(s.passed(w)), no(self.conflicts(s, w)),
                both(self.can_write(s, w, WRITING), all_stored(s, w)) if early
                else both(self.can_write(s, w, LOCKED), s.writer_locks(w)),
            ),
            lambda s, w: {"passed": at(s.passed, w, to=True)},
        )  # fmt: skip
        aborts = self.gives_up(
            "writer aborts", lambda s, w: both(s.optimistic(w), no(s.passed(w)), self.conflicts(s, w)), "writer_aborts"
        )
        return (*extended(super().writers(), looks), passes, aborts, self.takes_back("writer_takes_back_write"))

    def forgets(self, s: Any, w: Term) -> dict[str, Any]:
        return {"sealed": lambda u, v: both(u != w, s.sealed(u, v)), "passed": at(s.passed, w, to=False)}

    def taken_back(self, s: Any, w: Term) -> Any:
        return {**super().taken_back(s, w), **self.forgets(s, w)}

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "a sealed timeline contains exactly what completed before the request": lambda s: s.every(
                WRITE, WRITE, lambda w, v: implies(
                    both(s.optimistic(w), s.phase(w) > IDLE, no(published(s, w))),
                    iff(s.sealed(w, v), both(published(s, v), s.completed(v) < s.requested(w))))),
            "a live writer that passed its check has no conflict": lambda s: s.every(WRITE, WRITE, lambda w, v: implies(
                both(s.optimistic(w), no(s.dead_writer(w)), s.phase(w) >= LOCKED, s.phase(w) <= READY, s.passed(w),
                     published(s, v), v != w, share_group(s, w, v)),
                s.sealed(w, v))),
            "a live writer passes its check under the lock": lambda s: s.every(WRITE, lambda w: implies(
                both(s.passed(w), no(s.dead_writer(w))), both(s.phase(w) >= LOCKED, s.phase(w) <= READY))),
            "a live writer that has its completion time passed its check": lambda s: s.every(WRITE, lambda w: implies(
                both(s.optimistic(w), s.phase(w) == READY, no(s.dead_writer(w))), s.passed(w))),
            "no optimistic write completed after a write of its group that it overlaps": first,
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        return frozenset(super().clauses())

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("FIRST", "no optimistic write is completed if a write of one of its file groups completed since it "
                  "began", first),
            Claim("FIRST", "a write aborts only if a write of one of its file groups completed since it began",
                  step=self.aborts_for_a_reason),
        )  # fmt: skip

    def aborts_for_a_reason(self, s: Any, n: Any) -> Term:
        return s.every(WRITE, lambda w: implies(both(n.given_up(w), no(s.given_up(w))), s.some(WRITE, lambda v: both(
            published(s, v), v != w, share_group(s, w, v), s.requested(w) < s.completed(v)))))  # fmt: skip


def has_passed(s: Any, w: Term) -> Term:
    return implies(s.optimistic(w), s.passed(w))


def share_group(s: Any, w: Term, v: Term) -> Term:
    """True if both writes have a log in the same file group."""
    return s.some(LOG, LOG, lambda a, b: both(s.write_of(a) == w, s.write_of(b) == v, s.group_of(a) == s.group_of(b)))


def first(s: Any) -> Term:
    return s.every(LOG, LOG, lambda a, b: no(overlap(s, s.write_of(a), s.write_of(b), s.group_of(a) == s.group_of(b))))


def overlap(s: Any, w: Term, v: Term, share: Term) -> Term:
    """True if the write v completed between the request and the completion of the optimistic write w."""
    return both(share, w != v, s.optimistic(w), published(s, w), published(s, v), s.requested(w) < s.completed(v),
                s.completed(v) < s.completed(w))  # fmt: skip
