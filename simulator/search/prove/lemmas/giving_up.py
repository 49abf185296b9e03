"""Writers that abandon a write: they release the lock, and delete the write's files and instant.

A mechanism can make writers check a condition under the lock, and abandon the write if the check fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ..logic import Relation, Term, Update, at, both, choose, either, implies, no
from ..system import Claim, Formula, Move
from . import core
from .state import IDLE, LOCKED, WRITE, WRITING

GIVEN_UP: Final = (
    Relation("given_up", (WRITE,)),  # the writer found a reason, and has not taken its files back
    Relation("over", (WRITE,)),  # the write ended without a completed instant
)


class GivingUp(core.Core):
    """The core transition relation, extended by writers that may abandon a write."""

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *GIVEN_UP)

    def initially(self, s: Any) -> Term:
        return both(super().initially(s), s.every(WRITE, lambda w: both(no(s.given_up(w)), no(s.over(w)))))

    def can_write(self, s: Any, w: Term, phase: int) -> Term:
        return both(super().can_write(s, w, phase), no(s.given_up(w)), no(s.over(w)))

    def is_over(self, s: Any, w: Term) -> Term:
        return either(super().is_over(s, w), s.over(w))

    def gives_up(self, name: str, reason: Callable[[Any, Term], Term], stands_for: str) -> Move:
        """Return the action by which a writer gives up its write for the given reason and releases the lock."""
        return Move(
            name, (WRITE,), lambda s, w: both(self.can_write(s, w, LOCKED), s.writer_locks(w), reason(s, w)),
            lambda s, w: {
                "writer_locks": at(s.writer_locks, w, to=False), "given_up": at(s.given_up, w, to=True),
                "phase": at(s.phase, w, to=WRITING),
            },
            (stands_for,),
        )  # fmt: skip

    def takes_back(self, *stands_for: str) -> Move:
        """Return the action by which a writer deletes the files of an abandoned write and then, under the lock, its
        instant.
        """
        return Move(
            "writer takes back its write", (WRITE,),
            lambda s, w: both(s.given_up(w), no(s.dead_writer(w)), self.lock_is_free(s)), self.taken_back, stands_for,
        )  # fmt: skip

    def taken_back(self, s: Any, w: Term) -> Mapping[str, Update]:
        return {
            "given_up": at(s.given_up, w, to=False), "over": at(s.over, w, to=True),
            "phase": at(s.phase, w, to=IDLE), "requested": at(s.requested, w, to=0),
            "completed": at(s.completed, w, to=0),
            "stored": lambda log: choose(s.write_of(log) == w, False, s.stored(log)),
        }  # fmt: skip

    def writers(self) -> tuple[Move, ...]:
        forgets = {"writer crashes": (None, lambda s, w: {"given_up": at(s.given_up, w, to=False)})}
        return extended(super().writers(), forgets)

    def claims_of_the_core(self) -> tuple[Claim, ...]:
        """Return the core promises except FREE, which does not hold because writers may abandon their writes."""
        return tuple(claim for claim in super().claims_of_the_core() if claim.promise != "FREE")

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "a write that its writer gave up is not completed": lambda s: s.every(WRITE, lambda w: both(
                implies(s.given_up(w), both(s.phase(w) == WRITING, no(s.writer_locks(w)), no(s.over(w)))),
                implies(s.over(w), both(s.phase(w) == IDLE, no(s.writer_locks(w)))))),
        }  # fmt: skip


def extended(actions: Iterable[Move], more: Mapping[str, tuple[Any, Any]]) -> tuple[Move, ...]:
    """Return the actions, extended by the guards and updates in `more`. `more` maps the name of an action to a pair of
    an additional guard and additional updates.
    """
    actions = tuple(actions)
    assert set(more) <= {action.name for action in actions}, "an action to extend does not exist"
    return tuple(action.extend(*more.get(action.name, (None, None))) for action in actions)
