"""Heartbeats, and rollbacks of failed writes: a write is completed or rolled back, never both.

A rollback actor acquires the lock, and plans the rollback of a pending write whose heartbeat has expired. A writer
checks its heartbeat under the lock before it takes a completion time. A live writer may stall until its heartbeat
expires.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from nbcc.model.mechanisms.rollback.heartbeat import WRITER_IS_REFUSED
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER

from ..logic import Relation, Term, Update, at, both, choose, either, implies, no
from ..system import Claim, Formula, Move
from . import options
from .giving_up import GivingUp, extended
from .services import AT_WORK, OPERATION, SERVICE, Services, is_alive
from .state import IDLE, LOG, PUBLISHED, READY, WRITE, WRITING, all_stored, published

HEARTBEATS: Final = (
    Relation("expired", (WRITE,)),  # the heartbeat of the writer expired during this write
    Relation("rolled_back", (WRITE,)),  # the plan of a rollback of the write is on the timeline
    Relation("checked", (WRITE,)),  # the writer checked its heartbeat without the lock
    Relation("erased", (LOG,)),  # a rollbacker deleted the log
    Relation("chosen", (SERVICE, WRITE)),  # the rollbacker chose the write without the lock
)


@dataclass(frozen=True)
class HeartbeatOptions(options.CoreOptions):
    """The model options that affect rollbacks, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    failed_writes: Literal["lazy", "eager"] = "lazy"
    rollback_check: Literal["under_lock", "before_lock"] = "under_lock"
    commit_check: Literal["under_lock", "before_lock", "none"] = "under_lock"


class HeartbeatLemmas(GivingUp, Services):
    """The core transition relation, extended by heartbeats and rollback actors."""

    options: HeartbeatOptions
    kind = ROLLBACKER.name

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *HEARTBEATS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s),
            s.every(WRITE, lambda w: both(no(s.expired(w)), no(s.rolled_back(w)), no(s.checked(w)))),
            s.every(SERVICE, WRITE, lambda a, w: no(s.chosen(a, w))), s.every(LOG, lambda log: no(s.erased(log))),
        )

    def has_failed(self, s: Any, w: Term) -> Term:
        """True if a rollback actor may treat the pending write as failed."""
        pending = both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED)
        return pending if self.options.failed_writes == "eager" else both(pending, s.expired(w))

    def writers(self) -> tuple[Move, ...]:
        check = self.options.commit_check
        ended = ("writer publishes instant", lambda s, w: {"expired": at(s.expired, w, to=False),
                                                          "checked": at(s.checked, w, to=False)})  # fmt: skip
        looks: dict[str, tuple[Any, Any]] = {ended[0]: (None, ended[1])}
        more: tuple[Move, ...] = (self.expires(),)
        if check == "under_lock":
            looks["writer takes completion time"] = (lambda s, w: no(is_given_up(s, w)), None)
            more += (self.gives_up("writer is refused", is_given_up, WRITER_IS_REFUSED),)
        if check == "before_lock":
            looks["writer takes lock"] = (lambda s, w: s.checked(w), None)
            more += (self.looks(),)
        return (*extended(super().writers(), looks), *more, self.takes_back("writer_gives_up"))

    def expires(self) -> Move:
        return Move(
            "heartbeat expires", (WRITE,),
            lambda s, w: both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED, no(s.expired(w))),
            lambda s, w: {"expired": at(s.expired, w, to=True)},
        )  # fmt: skip

    def looks(self) -> Move:
        """Return the action by which a writer checks its heartbeat before it takes the lock."""
        return Move(
            "writer looks at heartbeat", (WRITE,),
            lambda s, w: both(self.can_write(s, w, WRITING), all_stored(s, w), no(s.checked(w)), no(is_given_up(s, w))),
            lambda s, w: {"checked": at(s.checked, w, to=True)},
        )  # fmt: skip

    def taken_back(self, s: Any, w: Term) -> Mapping[str, Update]:
        marks = {name: at(getattr(s, name), w, to=False) for name in ("expired", "rolled_back", "checked")}
        erased = {"erased": lambda log: choose(s.write_of(log) == w, False, s.erased(log))}
        return {**super().taken_back(s, w), **marks, **erased}

    def is_there(self, s: Any, log: Term) -> Term:
        return no(s.erased(log))

    def actions(self) -> tuple[Move, ...]:
        early = self.options.rollback_check == "before_lock"
        chooses = Move(
            "rollbacker chooses write", (SERVICE, WRITE),
            lambda s, a, w: both(is_alive(s, a, 0), self.has_failed(s, w)),
            lambda s, a, w: {"chosen": at(s.chosen, a, w, to=True)},
        )  # fmt: skip
        plans = Move(
            "rollbacker plans rollback", (SERVICE, OPERATION, WRITE),
            lambda s, a, o, w: both(
                self.may_plan(s, a, o), s.chosen(a, w) if early else self.has_failed(s, w)
            ),
            lambda s, a, o, w: {
                **self.plans(s, a, o), "rolled_back": at(s.rolled_back, w, to=True),
                "chosen": lambda b, v: choose(b == a, False, s.chosen(b, v)),
            },
        )  # fmt: skip
        resumes = Move(
            "rollbacker resumes rollback", (SERVICE, OPERATION), self.may_resume_operation, self.takes_operation,
        )  # fmt: skip
        deletes = Move(
            "rollbacker deletes log", (SERVICE, LOG),
            lambda s, a, log: both(
                is_alive(s, a, AT_WORK), s.stored(log), s.rolled_back(s.write_of(log)),
                s.every(LOG, lambda other: implies(s.put_before(other, log), s.erased(other))),
            ),
            lambda s, a, log: {"erased": at(s.erased, log, to=True)},
        )  # fmt: skip
        finds = self.finds_it_done("rollbacker finds its rollback completed")
        return (*super().actions(), *((chooses,) if early else ()), plans, resumes, deletes, finds)

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "a live writer that has its completion time is not rolled back": lambda s: s.every(WRITE, lambda w: implies(
                both(s.phase(w) == READY, no(s.dead_writer(w))), no(s.rolled_back(w)))),
            "a completed write is not rolled back": lambda s: s.every(WRITE, lambda w: implies(
                published(s, w), no(s.rolled_back(w)))),
            "a write that is rolled back has an expired heartbeat": lambda s: s.every(WRITE, lambda w: implies(
                s.rolled_back(w), s.expired(w))),
            "only logs of writes that are rolled back are deleted": lambda s: s.every(LOG, lambda log: implies(
                s.erased(log), s.rolled_back(s.write_of(log)))),
            "only a pending write is rolled back": lambda s: s.every(WRITE, lambda w: implies(
                either(s.rolled_back(w), s.expired(w)), s.phase(w) > IDLE)),
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        """Return the names of all clauses, because the proof of every promise needs all of them."""
        return frozenset(self.clauses())

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("REC", "no write is completed and rolled back; a write is rolled back only if its heartbeat expired",
                  self.recovery),
        )  # fmt: skip

    def recovery(self, s: Any) -> Term:
        return s.every(WRITE, lambda w: implies(s.rolled_back(w), both(no(published(s, w)), s.expired(w))))


def is_given_up(s: Any, w: Term) -> Term:
    """True if the writer's heartbeat has expired, or a rollback of the write is planned."""
    return either(s.expired(w), s.rolled_back(w))
