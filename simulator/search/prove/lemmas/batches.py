"""Batch ids: a batch commits at most once, even if several writers send the batch repeatedly.

Under the lock, a writer searches the timeline for its batch id when it requests an instant, and again before it takes a
completion time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..logic import Relation, Term, at, both, implies, no
from ..system import Claim, Formula, Move
from . import options
from .giving_up import GivingUp, extended
from .state import IDLE, READY, WRITE, published


@dataclass(frozen=True)
class BatchOptions(options.CoreOptions):
    """The model options that affect repeated batches, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    batch_ids: Literal["checked", "at_request", "ignored"] = "checked"


class Batches(GivingUp):
    """The core transition relation, extended by batches that are sent several times."""

    options: BatchOptions

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), Relation("same_batch", (WRITE, WRITE), fixed=True))

    def background(self) -> dict[str, Formula]:
        return {"`same_batch` is an equivalence": lambda s: both(
            s.every(WRITE, lambda w: s.same_batch(w, w)),
            s.every(WRITE, WRITE, lambda w, v: implies(s.same_batch(w, v), s.same_batch(v, w))),
            s.every(WRITE, WRITE, WRITE, lambda u, v, w: implies(
                both(s.same_batch(u, v), s.same_batch(v, w)), s.same_batch(u, w))),
        )}  # fmt: skip

    def is_repeat(self, s: Any, w: Term) -> Term:
        return s.some(WRITE, lambda v: both(s.same_batch(w, v), w != v, published(s, v)))

    def writers(self) -> tuple[Move, ...]:
        def is_new(s: Any, w: Term) -> Term:
            return no(self.is_repeat(s, w))

        looks: dict[str, tuple[Callable[..., Term], None]] = {}
        more: tuple[Move, ...] = ()
        if self.options.batch_ids != "ignored":
            looks["writer requests instant"] = (is_new, None)
            more += (self.skips(),)
        if self.options.batch_ids == "checked":
            looks["writer takes completion time"] = (is_new, None)
            more += (self.gives_up("writer finds its batch completed", self.is_repeat, "writer_finds_batch"),
                     self.takes_back("writer_takes_back_repeat"))  # fmt: skip
        return (*extended(super().writers(), looks), *more)

    def skips(self) -> Move:
        """Return the action by which a writer skips a batch that another write has committed."""
        return Move(
            "writer skips batch", (WRITE,),
            lambda s, w: both(
                self.can_write(s, w, IDLE), self.lock_is_free(s), self.is_repeat(s, w),
                s.every(WRITE, lambda v: implies(s.earlier(v, w), self.is_over(s, v))),
            ),
            lambda s, w: {"over": at(s.over, w, to=True)},
        )  # fmt: skip

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "a writer that has its completion time is the first of its batch": lambda s: s.every(
                WRITE, WRITE, lambda w, v: implies(
                    both(s.phase(w) == READY, no(s.dead_writer(w)), s.same_batch(w, v)), no(published(s, v)))),
            "of the writes of a batch at most one is completed": once,
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        return frozenset(super().clauses())

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("ONCE", "a batch commits at most once, and a writer that skips or takes back a repeat has one that "
                  "committed", once, self.answered),
        )  # fmt: skip

    def answered(self, s: Any, n: Any) -> Term:
        """True if every write that is skipped in this step repeats a batch that another write has committed."""
        return s.every(WRITE, lambda w: implies(
            both(n.over(w), no(s.over(w)), no(s.given_up(w))), self.is_repeat(s, w)))  # fmt: skip


def once(s: Any) -> Term:
    return s.every(WRITE, WRITE, lambda w, v: implies(
        both(published(s, w), published(s, v), s.same_batch(w, v)), w == v))  # fmt: skip
