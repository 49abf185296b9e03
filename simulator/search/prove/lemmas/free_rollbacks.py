"""Rollbacks of failed writes without a lock: an entry commits a write or rolls it back, and never both.

A rollbacker announces the rollback of a write whose heartbeat has expired. An entry decides either the rollback or the
commit of the write; if its author has listed both, the commit. A writer gives its write up if it finds that an entry
has rolled it back, and a rollbacker its rollback if it finds the write on the timeline. No actor checks a heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER

from ..logic import Relation, Term, Update, at, both, choose, either, iff, implies, no
from ..system import Claim, Formula, Move, NewTimes
from . import core
from .entries import (
    ANNOUNCED,
    ASKS,
    AUTHOR,
    COMPLETIONS,
    LEARNS,
    PLANS,
    WRITES,
    Asks,
    Contents,
    Items,
    TimedItems,
    even_after,
    has_begun_to_list,
    is_even,
)
from .free_commits import FreeCommits, begins, ends
from .instants import Completing, Instants
from .services import AT_WORK, OPERATION, SERVICE
from .state import COMPACTOR, IDLE, LOCKED, LOG, PUBLISHED, READER, WRITE, published

ASKING, ENDING = 2, 3
"""The work of a rollbacker that has announced its rollback, or the completion of it; before, it is `AT_WORK`."""
ROLLBACKS: Final = (
    Relation("operation_before", (OPERATION, OPERATION), fixed=True),
    Relation("rolls_as", (SERVICE,), AUTHOR, fixed=True),
    Relation("expired", (WRITE,)),  # the heartbeat of the writer expired during this write
    Relation("erased", (LOG,)),  # a rollbacker deleted the log
    Relation("rolled_back_in", (WRITE,), "time"),  # the number of the first entry that rolls the write back; 0: none
    Relation("undoes", (OPERATION,), WRITE),
    Relation("asked", (OPERATION,)),  # the rollback is announced
    Relation("operation_requested", (OPERATION,), "time"),
    Relation("entry_of_rollback", (OPERATION,), "time"),
    Relation("lists_rollback", (AUTHOR, OPERATION)),
    Relation("operation_planned", (OPERATION,)),  # the rollback is on the timeline
    Relation("ended", (OPERATION,)),  # the completion of the rollback is announced
    Relation("entry_of_ending", (OPERATION,), "time"),
    Relation("lists_ending", (AUTHOR, OPERATION)),
    Relation("operation_done", (OPERATION,)),
    Relation("operation_completed", (OPERATION,), "time"),
    Relation("service_work", (SERVICE,), "time"),
    Relation("operation_of", (SERVICE,), OPERATION),
    Relation("there_operation", (READER, OPERATION)),
    Relation("kept_operation", (READER, OPERATION)),
)

REVOCABLE: Final = replace(
    WRITES, opposite=lambda s, w: s.rolled_back_in(w),
    refuted=lambda s, a, w: both(s.rolled_back_in(w) > 0, s.rolled_back_in(w) <= s.learnt_tail(a)),
)  # fmt: skip
"""Writes that an entry may roll back."""
ENDINGS: Final = TimedItems(
    OPERATION, "ending", lambda s, o: s.operation_requested(o), lambda s, o: s.ended(o),
    lambda s, o: s.operation_done(o), time="operation_completed",
)  # fmt: skip
ROLLED_BACK: Final = Items(
    OPERATION, "rollback", lambda s, o: s.operation_requested(o), lambda s, o: s.asked(o),
    lambda s, o: s.operation_planned(o), refuted=lambda s, a, o: published(s, s.undoes(o)),
    opposite=lambda s, o: s.entry_of_write(s.undoes(o)), yields=lambda s, a, o: s.lists_write(a, s.undoes(o)),
)  # fmt: skip
CONTENTS: Final = Contents(
    (REVOCABLE, COMPLETIONS, ENDINGS), (PLANS, ROLLED_BACK), (
        replace(ASKS[0], items=REVOCABLE), *ASKS[1:],
        Asks(SERVICE, ROLLED_BACK, lambda s, b: s.rolls_as(b), lambda s, b: s.operation_of(b),
             lambda s, b: s.service_work(b) == ASKING),
        Asks(SERVICE, ENDINGS, lambda s, b: s.rolls_as(b), lambda s, b: s.operation_of(b),
             lambda s, b: s.service_work(b) == ENDING)),
)  # fmt: skip
INSTANTS: Final = Instants(
    OPERATION, "operation", lambda s, o: s.asked(o), lambda s, o: s.operation_requested(o),
    lambda s, o: s.operation_done(o), lambda s, o: s.operation_completed(o),
)  # fmt: skip
HAS_LOGS: Final = "a write past its data phase has all its logs"
STATES: Final = "a write is decided after its announcement, and published after its decision"
NEVER_BOTH: Final = "no entry decides a write that an entry rolls back"


class FreeRollbacks(FreeCommits):
    """Commits without a lock, with heartbeats and a rollbacker."""

    contents = CONTENTS
    kinds = (*core.Core.kinds, INSTANTS)
    completing = tuple(
        Completing(kind.sort, kind.decided, kind.decided, kind.completed, kind.requested) for kind in CONTENTS.commits
    )

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *ROLLBACKS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s), s.every(WRITE, lambda w: both(no(s.expired(w)), s.rolled_back_in(w) == 0)),
            s.every(LOG, lambda log: no(s.erased(log))), s.every(SERVICE, lambda b: s.service_work(b) == IDLE),
            s.every(OPERATION, lambda o: both(
                no(s.asked(o)), no(s.operation_planned(o)), no(s.ended(o)), no(s.operation_done(o)),
                s.entry_of_rollback(o) == 0, s.entry_of_ending(o) == 0)),
            s.every(READER, OPERATION, lambda d, o: both(no(s.there_operation(d, o)), no(s.kept_operation(d, o)))),
        )  # fmt: skip

    def background(self) -> dict[str, Formula]:
        return super().background() | {
            "there is one rollbacker, and it is neither a writer nor a compactor": lambda s: both(
                s.every(SERVICE, SERVICE, lambda b, d: b == d),
                s.every(SERVICE, WRITE, lambda b, w: s.rolls_as(b) != s.writes_as(w)),
                s.every(SERVICE, COMPACTOR, lambda b, c: s.rolls_as(b) != s.compacts_as(c))),
        }  # fmt: skip

    def is_there(self, s: Any, log: Term) -> Term:
        return no(s.erased(log))

    # Actions.

    def actions(self) -> tuple[Move, ...]:
        return (*super().actions(), *self.rollbackers())

    def crashes(self) -> Move:
        crash = super().crashes()
        return replace(
            crash,
            guard=lambda s, a: either(crash.guard(s, a), both(no(s.dead_author(a)), s.some(
                SERVICE, lambda b: both(s.rolls_as(b) == a, s.service_work(b) > IDLE)))),
            updates=lambda s, a: {**crash.updates(s, a), "service_work": lambda b: choose(
                s.rolls_as(b) == a, IDLE, s.service_work(b))},
        )  # fmt: skip

    def is_absent(self, s: Any, t: Term) -> Term:
        return both(super().is_absent(s, t), s.every(OPERATION, lambda o: implies(
            s.asked(o), s.operation_requested(o) != t)))  # fmt: skip

    def finds_refuted(self, s: Any, a: Term, x: Term, kind: Items) -> Term:
        """True if the author finds that an entry has decided the opposite of the item."""
        return both(
            no(kind.published(s, x)), kind.refuted(s, a, x), either(s.deciding(a) == LEARNS, self.has_caught_up(s, a)))

    def writers(self) -> tuple[Move, ...]:
        return (
            *super().writers(),
            Move(
                "heartbeat expires", (WRITE,),
                lambda s, w: both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED, no(s.returned(w)), no(s.expired(w))),
                lambda s, w: {"expired": at(s.expired, w, to=True)},
            ),
            Move(
                "writer finds its write rolled back", (WRITE,),
                lambda s, w: both(
                    s.phase(w) >= ANNOUNCED, no(s.returned(w)), no(s.dead_author(s.writes_as(w))),
                    self.finds_refuted(s, s.writes_as(w), w, REVOCABLE)),
                lambda s, w: {
                    "returned": at(s.returned, w, to=True), "expired": at(s.expired, w, to=False),
                    "stored": lambda log: both(s.stored(log), s.write_of(log) != w),
                    "erased": lambda log: both(s.erased(log), s.write_of(log) != w),
                    **ends(s, s.writes_as(w)),
                },
                (f"{WRITER.name}_finds_refused",),
            ),
        )  # fmt: skip

    def publication(self, s: Any, kind: Items, x: Term) -> Mapping[str, Update]:
        if kind is ROLLED_BACK:
            return {"operation_planned": at(s.operation_planned, x, to=True)}
        if kind is ENDINGS:
            return {"operation_done": at(s.operation_done, x, to=True)}
        more = {"expired": at(s.expired, x, to=False)} if kind is REVOCABLE else {}
        return {**super().publication(s, kind, x), **more}

    def put(self, s: Any, a: Term, times: NewTimes) -> dict[str, Update]:
        def is_chosen(w: Term) -> Term:
            return s.some(OPERATION, lambda o: both(s.undoes(o) == w, ROLLED_BACK.chosen(s, a, o)))

        return super().put(s, a, times) | {"rolled_back_in": lambda w: choose(
            both(s.rolled_back_in(w) == 0, is_chosen(w)), s.tail() + 1, s.rolled_back_in(w))}  # fmt: skip

    def rollbackers(self) -> tuple[Move, ...]:
        def ends_work(
            name: str, work: int, then: int, finds: Callable[..., Term], kind: Items, stands_for: str
        ) -> Move:
            return Move(
                name, (SERVICE,),
                lambda s, b: both(s.service_work(b) == work, finds(s, s.rolls_as(b), s.operation_of(b), kind)),
                lambda s, b: {"service_work": at(s.service_work, b, to=then), **ends(s, s.rolls_as(b))},
                (f"{ROLLBACKER.name}_{stands_for}",),
            )  # fmt: skip

        return (
            self.plans_rollback(),
            ends_work("rollbacker finds its rollback published", ASKING, AT_WORK, self.finds_published, ROLLED_BACK,
                      "finds_decided"),
            ends_work("rollbacker finds the write committed", ASKING, IDLE, self.finds_refuted, ROLLED_BACK,
                      "finds_refused"),
            Move(
                "rollbacker deletes log", (SERVICE, LOG),
                lambda s, b, log: both(
                    s.service_work(b) == AT_WORK, s.stored(log), s.some(OPERATION, lambda o: both(
                        s.operation_planned(o), s.undoes(o) == s.write_of(log))),
                    s.every(LOG, lambda other: implies(s.put_before(other, log), s.erased(other)))),
                lambda s, b, log: {"erased": at(s.erased, log, to=True)},
            ),
            Move(
                "rollbacker announces", (SERVICE,), lambda s, b: s.service_work(b) == AT_WORK,
                lambda s, b: {
                    "ended": at(s.ended, s.operation_of(b), to=True), "service_work": at(s.service_work, b, to=ENDING),
                    **begins(s, s.rolls_as(b)),
                },
            ),
            ends_work("rollbacker finds its completion published", ENDING, IDLE, self.finds_published, ENDINGS,
                      "finds_decided"),
        )  # fmt: skip

    def plans_rollback(self) -> Move:
        def may_plan(s: Any, b: Term, o: Term, w: Term) -> Term:
            return both(
                s.service_work(b) == IDLE, no(s.dead_author(s.rolls_as(b))), no(s.asked(o)), s.expired(w),
                s.every(OPERATION, lambda other: implies(s.operation_before(other, o), s.asked(other))))

        def plan(s: Any, b: Term, o: Term, w: Term, t: Term) -> dict[str, Update]:
            return {
                "asked": at(s.asked, o, to=True), "undoes": at(s.undoes, o, to=w),
                "operation_requested": at(s.operation_requested, o, to=t),
                "operation_of": at(s.operation_of, b, to=o), "service_work": at(s.service_work, b, to=ASKING),
                "clock": lambda: choose(s.clock() > t, s.clock(), t), **begins(s, s.rolls_as(b)),
            }  # fmt: skip

        name = "rollbacker plans rollback"
        if self.options.any_clock:
            return Move(name, (SERVICE, OPERATION, WRITE, "time"), lambda s, b, o, w, t: both(
                t > 0, is_even(t), may_plan(s, b, o, w), self.is_absent(s, t)), plan)  # fmt: skip
        return Move(name, (SERVICE, OPERATION, WRITE), may_plan,
                    lambda s, b, o, w: plan(s, b, o, w, even_after(s.clock())))  # fmt: skip

    # The invariant.

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            HAS_LOGS: lambda s: s.every(LOG, lambda log: implies(
                both(s.phase(s.write_of(log)) >= LOCKED, either(
                    published(s, s.write_of(log)), no(s.returned(s.write_of(log))))), s.stored(log))),
            STATES: lambda s: s.every(WRITE, lambda w: both(
                iff(WRITES.decided(s, w), s.phase(w) > ANNOUNCED),
                implies(s.returned(w), either(published(s, w), both(
                    s.phase(w) == ANNOUNCED, s.rolled_back_in(w) > 0))))),
            NEVER_BOTH: lambda s: both(
                s.every(WRITE, lambda w: both(
                    s.rolled_back_in(w) >= 0, s.rolled_back_in(w) <= s.tail(),
                    implies(s.rolled_back_in(w) > 0, no(WRITES.decided(s, w))))),
                s.every(OPERATION, lambda o: implies(ROLLED_BACK.decided(s, o), both(
                    s.rolled_back_in(s.undoes(o)) > 0, s.rolled_back_in(s.undoes(o)) <= s.entry_of_rollback(o))))),
            "a rollback is decided after its announcement, and published after its decision": lambda s: s.every(
                OPERATION, lambda o: both(
                    implies(ROLLED_BACK.decided(s, o), s.asked(o)),
                    implies(s.operation_planned(o), ROLLED_BACK.decided(s, o)),
                    implies(s.ended(o), s.operation_planned(o)), implies(ENDINGS.decided(s, o), s.ended(o)),
                    implies(s.operation_done(o), ENDINGS.decided(s, o)),
                    implies(s.asked(o), both(s.operation_requested(o) > 0, is_even(s.operation_requested(o)))))),
            "a write that is rolled back has an expired heartbeat": lambda s: both(
                s.every(OPERATION, lambda o: implies(s.asked(o), either(
                    s.phase(s.undoes(o)) == PUBLISHED, s.returned(s.undoes(o)), s.expired(s.undoes(o))))),
                s.every(WRITE, lambda w: both(
                    implies(both(s.rolled_back_in(w) > 0, no(s.returned(w))), s.expired(w)),
                    implies(s.expired(w), both(s.phase(w) > IDLE, s.phase(w) < PUBLISHED, no(s.returned(w))))))),
            "only logs of writes that are rolled back are deleted": lambda s: s.every(LOG, lambda log: implies(
                s.erased(log), s.rolled_back_in(s.write_of(log)) > 0)),
            "a rollbacker runs a rollback that exists": lambda s: s.every(SERVICE, lambda b: both(
                s.service_work(b) >= IDLE, s.service_work(b) <= ENDING,
                implies(s.service_work(b) == ASKING, both(s.asked(s.operation_of(b)), no(s.ended(s.operation_of(b))))),
                implies(s.service_work(b) == AT_WORK, both(
                    s.operation_planned(s.operation_of(b)), no(s.ended(s.operation_of(b))))),
                implies(s.service_work(b) == ENDING, s.ended(s.operation_of(b))),
                implies(either(s.service_work(b) == IDLE, s.service_work(b) == AT_WORK), both(
                    s.deciding(s.rolls_as(b)) == 0, no(has_begun_to_list(s, s.rolls_as(b))))),
                implies(s.dead_author(s.rolls_as(b)), s.service_work(b) == IDLE))),
        }  # fmt: skip

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("REC", "no write is completed and rolled back; a pending write is rolled back only if its heartbeat "
                  "expired", self.recovery),
        )  # fmt: skip

    def recovery(self, s: Any) -> Term:
        return s.every(OPERATION, lambda o: implies(s.operation_planned(o), both(
            no(published(s, s.undoes(o))), either(s.returned(s.undoes(o)), s.expired(s.undoes(o))))))  # fmt: skip
