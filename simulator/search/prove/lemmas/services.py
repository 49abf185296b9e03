"""Table services other than compactors: rollback actors, cleaners and log compactors.

A service plans an *operation* (one rollback, clean or log compaction) under the lock, works, and completes it under the
lock. It may crash, and another service may then resume the operation. Operations are instants, with requested and
completion times that readers list. The three kinds of services share the steps that this module defines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from nbcc.model.mechanisms.crashes import ACTOR_CRASHES, LOCK_EXPIRES

from ..logic import Relation, Sort, Term, Update, at, both, either, implies, no
from ..system import Formula, Move
from . import core
from .instants import Completing, Instants
from .state import COMPACTOR, READER, WRITE, tick

SERVICE, OPERATION = Sort("Service"), Sort("Operation")
AT_WORK, UNDER_LOCK, HAS_TIME = 1, 2, 3
"""What a service is doing; 0: nothing."""

RELATIONS: Final = (
    Relation("operation_before", (OPERATION, OPERATION), fixed=True),
    Relation("operation_planned", (OPERATION,)),
    Relation("operation_requested", (OPERATION,), "time"),
    Relation("operation_done", (OPERATION,)),
    Relation("operation_completed", (OPERATION,), "time"),
    Relation("service_locks", (SERVICE,)),
    Relation("service_work", (SERVICE,), "time"),
    Relation("dead_service", (SERVICE,)),
    Relation("operation_of", (SERVICE,), OPERATION),
    Relation("service_completing", (SERVICE,), "time"),
    Relation("there_operation", (READER, OPERATION)),
    Relation("kept_operation", (READER, OPERATION)),
)
OPERATIONS: Final = Instants(
    OPERATION, "operation", lambda s, o: s.operation_planned(o), lambda s, o: s.operation_requested(o),
    lambda s, o: s.operation_done(o), lambda s, o: s.operation_completed(o),
)  # fmt: skip
COMPLETING_SERVICES: Final = Completing(
    SERVICE, lambda s, a: s.service_work(a) == HAS_TIME, lambda s, a: is_alive(s, a, HAS_TIME),
    lambda s, a: s.service_completing(a), lambda s, a: s.operation_requested(s.operation_of(a)),
)  # fmt: skip


def is_alive(s: Any, a: Term, work: int) -> Term:
    return both(s.service_work(a) == work, no(s.dead_service(a)))


class Services(core.Core):
    """The core transition relation, extended by table services of one kind."""

    kind: ClassVar[str]
    kinds = (*core.Core.kinds, OPERATIONS)
    completing = (*core.Core.completing, COMPLETING_SERVICES)

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *RELATIONS)

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s),
            s.every(OPERATION, lambda o: both(no(s.operation_planned(o)), no(s.operation_done(o)))),
            s.every(SERVICE, lambda a: both(no(s.service_locks(a)), s.service_work(a) == 0, no(s.dead_service(a)))),
            s.every(READER, OPERATION, lambda d, o: both(no(s.there_operation(d, o)), no(s.kept_operation(d, o)))),
        )

    def lock_is_free(self, s: Any) -> Term:
        return both(super().lock_is_free(s), s.every(SERVICE, lambda a: no(s.service_locks(a))))

    def actions(self) -> tuple[Move, ...]:
        return (*super().actions(), *self.completing_services(), *self.dying_services())

    def may_plan(self, s: Any, a: Term, o: Term) -> Term:
        """True if the service is idle, the lock is free, and the operation is the next one that does not exist yet."""
        return both(
            is_alive(s, a, 0), self.lock_is_free(s), no(s.operation_planned(o)),
            s.every(OPERATION, lambda other: implies(s.operation_before(other, o), s.operation_planned(other))),
        )  # fmt: skip

    def plans(self, s: Any, a: Term, o: Term) -> dict[str, Update]:
        """Return the state updates by which a service plans an operation."""
        return {
            **tick(s), **self.takes_operation(s, a, o),
            "operation_planned": at(s.operation_planned, o, to=True),
            "operation_requested": at(s.operation_requested, o, to=s.clock() + 1),
        }  # fmt: skip

    def may_resume_operation(self, s: Any, a: Term, o: Term) -> Term:
        return both(is_alive(s, a, 0), s.operation_planned(o), no(s.operation_done(o)))

    def takes_operation(self, s: Any, a: Term, o: Term) -> dict[str, Update]:
        """Return the state updates by which a service begins to work on an operation."""
        return {
            "service_work": at(s.service_work, a, to=AT_WORK), "operation_of": at(s.operation_of, a, to=o),
            "service_completing": at(s.service_completing, a, to=0),
        }  # fmt: skip

    def finds_it_done(self, name: str) -> Move:
        """Return the action by which a service finds that another one has completed its operation."""
        return Move(
            name, (SERVICE,), lambda s, a: both(is_alive(s, a, AT_WORK), s.operation_done(s.operation_of(a))),
            lambda s, a: {"service_work": at(s.service_work, a, to=0)}, (f"{self.kind}_finds_it_done",),
        )  # fmt: skip

    def when_published(self, s: Any, a: Term) -> Mapping[str, Update]:
        """Return the state updates that a mechanism adds when a service publishes its completed instant."""
        return {}

    def completing_services(self) -> tuple[Move, ...]:
        return (
            Move(
                f"{self.kind} takes lock", (SERVICE,),
                lambda s, a: both(
                    is_alive(s, a, AT_WORK), self.lock_is_free(s), no(s.operation_done(s.operation_of(a)))
                ),
                lambda s, a: {
                    "service_locks": at(s.service_locks, a, to=True),
                    "service_work": at(s.service_work, a, to=UNDER_LOCK),
                },
            ),
            Move(
                f"{self.kind} takes completion time", (SERVICE,),
                lambda s, a: both(is_alive(s, a, UNDER_LOCK), s.service_locks(a)),
                lambda s, a: {
                    **tick(s), "service_work": at(s.service_work, a, to=HAS_TIME),
                    "service_completing": at(s.service_completing, a, to=s.clock() + 1),
                },
            ),
            Move(
                f"{self.kind} publishes instant", (SERVICE,),
                lambda s, a: both(is_alive(s, a, HAS_TIME), s.service_locks(a)),
                lambda s, a: {
                    "service_locks": at(s.service_locks, a, to=False), "service_work": at(s.service_work, a, to=0),
                    "operation_done": at(s.operation_done, s.operation_of(a), to=True),
                    "operation_completed": at(
                        s.operation_completed, s.operation_of(a), to=s.service_completing(a)
                    ),
                    **self.when_published(s, a),
                },
            ),
        )  # fmt: skip

    def dying_services(self) -> tuple[Move, ...]:
        return (
            Move(
                f"{self.kind} crashes", (SERVICE,), lambda s, a: both(s.service_work(a) > 0, no(s.dead_service(a))),
                lambda s, a: {
                    "dead_service": at(s.dead_service, a, to=True), "service_work": at(s.service_work, a, to=AT_WORK)
                },
                (ACTOR_CRASHES,),
            ),
            Move(
                f"lock of a dead {self.kind} expires", (SERVICE,),
                lambda s, a: both(s.dead_service(a), s.service_locks(a)),
                lambda s, a: {"service_locks": at(s.service_locks, a, to=False)}, (LOCK_EXPIRES,),
            ),
        )  # fmt: skip

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "a service with the lock excludes every other actor": lambda s: both(
                s.every(SERVICE, SERVICE, lambda a, b: implies(both(s.service_locks(a), s.service_locks(b)), a == b)),
                s.every(SERVICE, WRITE, lambda a, w: no(both(s.service_locks(a), s.writer_locks(w)))),
                s.every(SERVICE, COMPACTOR, lambda a, c: no(both(s.service_locks(a), s.compactor_locks(c)))),
            ),
            "a live service that completes has the lock": lambda s: s.every(SERVICE, lambda a: both(
                s.service_work(a) >= 0, s.service_work(a) <= HAS_TIME,
                implies(both(s.service_work(a) >= UNDER_LOCK, no(s.dead_service(a))), s.service_locks(a)),
                implies(s.dead_service(a), s.service_work(a) == AT_WORK),
                implies(s.service_locks(a), either(s.service_work(a) >= UNDER_LOCK, s.dead_service(a))),
            )),
            "a service works on an operation that exists, and completes it once": lambda s: s.every(
                SERVICE, lambda a: both(
                    implies(s.service_work(a) > 0, s.operation_planned(s.operation_of(a))),
                    implies(both(s.service_locks(a), no(s.dead_service(a))), no(
                        s.operation_done(s.operation_of(a)))))),
        }  # fmt: skip
