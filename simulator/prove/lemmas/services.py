"""Table services other than compactors: actors that plan under the lock, work, complete under the lock, and may crash.

Rollback actors, cleaners and log compactors share the steps that this module defines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..logic import Relation, Sort, Term, Update, at, both, either, implies, no
from ..system import Action, Formula
from . import core
from .state import COMPACTOR, WRITE, tick

SERVICE = Sort("Service")
AT_WORK, UNDER_LOCK, HAS_TIME = 1, 2, 3
"""What a service is doing; 0: nothing."""

RELATIONS: Final = (
    Relation("service_locks", (SERVICE,)),
    Relation("service_work", (SERVICE,), "time"),
    Relation("dead_service", (SERVICE,)),
)


def is_alive(s: Any, a: Term, work: int) -> Term:
    return both(s.service_work(a) == work, no(s.dead_service(a)))


class Services(core.Core):
    """The core transition relation, extended by table services of one kind."""

    kind: ClassVar[str]

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *RELATIONS)

    def initially(self, s: Any) -> Term:
        return both(super().initially(s), s.every(SERVICE, lambda a: both(
            no(s.service_locks(a)), s.service_work(a) == 0, no(s.dead_service(a)))))  # fmt: skip

    def lock_is_free(self, s: Any) -> Term:
        return both(super().lock_is_free(s), s.every(SERVICE, lambda a: no(s.service_locks(a))))

    def actions(self) -> tuple[Action, ...]:
        return (*super().actions(), *self.completing_services(), *self.dying_services())

    def when_published(self, s: Any, a: Term) -> Mapping[str, Update]:
        """Return the state updates that a mechanism adds when a service publishes its completed instant."""
        return {}

    def completing_services(self) -> tuple[Action, ...]:
        return (
            Action(
                f"{self.kind} takes lock", (SERVICE,), lambda s, a: both(is_alive(s, a, AT_WORK), self.lock_is_free(s)),
                lambda s, a: {
                    "service_locks": at(s.service_locks, a, to=True),
                    "service_work": at(s.service_work, a, to=UNDER_LOCK),
                },
                (f"{self.kind}_takes_lock",),
            ),
            Action(
                f"{self.kind} takes completion time", (SERVICE,),
                lambda s, a: both(is_alive(s, a, UNDER_LOCK), s.service_locks(a)),
                lambda s, a: {**tick(s), "service_work": at(s.service_work, a, to=HAS_TIME)},
                (f"{self.kind}_takes_completion_time",),
            ),
            Action(
                f"{self.kind} publishes instant", (SERVICE,),
                lambda s, a: both(is_alive(s, a, HAS_TIME), s.service_locks(a)),
                lambda s, a: {
                    "service_locks": at(s.service_locks, a, to=False), "service_work": at(s.service_work, a, to=0),
                    **self.when_published(s, a),
                },
                (f"{self.kind}_publishes_instant",),
            ),
        )  # fmt: skip

    def dying_services(self) -> tuple[Action, ...]:
        return (
            Action(
                f"{self.kind} crashes", (SERVICE,), lambda s, a: both(s.service_work(a) > 0, no(s.dead_service(a))),
                lambda s, a: {
                    "dead_service": at(s.dead_service, a, to=True), "service_work": at(s.service_work, a, to=AT_WORK)
                },
                ("actor_crashes",),
            ),
            Action(
                f"lock of a dead {self.kind} expires", (SERVICE,),
                lambda s, a: both(s.dead_service(a), s.service_locks(a)),
                lambda s, a: {"service_locks": at(s.service_locks, a, to=False)}, ("lock_expires",),
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
                implies(s.service_locks(a), either(s.service_work(a) >= UNDER_LOCK, s.dead_service(a))),
            )),
        }  # fmt: skip
