"""The promises of the lock models, defined in docs/contract.md: MUTEX and LEASE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .limits import LockLimits

if TYPE_CHECKING:
    from .lock_model import LockModel


@dataclass(frozen=True, slots=True, kw_only=True)
class LockPromise:
    """A promise (checked property) about states of a lock model, with the interface that `explore` requires."""

    name: str
    about: str
    judge: Callable[[LockModel, int], str | None]
    tested: Callable[[LockModel, int], bool]
    kind: str = "state"

    def holds(self, system: LockModel, before: object, step: object, after: int) -> str | None:
        """Return None, or a sentence that describes the violation."""
        return self.judge(system, after)

    def sometimes(self, system: LockModel, state: int) -> bool:
        """Return True if the promise's precondition is true in the state."""
        return self.tested(system, state)

    def reads(self, system: LockModel) -> tuple[str, ...]:
        """Return the components (state variables) that the promise reads."""
        return system.judged()


def _one_holder(system: LockModel, state: int) -> str | None:
    holders = system.holders(state)
    return f"{' and '.join(holders)} hold the lock at the same time" if len(holders) > 1 else None


def longest(limits: LockLimits) -> int:
    """Return the longest time in ticks for which a lock without a holder may remain taken: one lease plus the clock
    drift.
    """
    return limits.lease + limits.drift


def _soon_free(system: LockModel, state: int) -> str | None:
    # The owner may be about to learn that it holds the lock, and then no time without a holder has passed.
    if system.holders(state) or system.asking(state):
        return None
    for contender in system.refused(state):
        if (unheld := system.unheld(state, contender)) > longest(system.limits):
            return f"{contender} is refused the lock, which no actor has held for {unheld} ticks"
    return None


MUTEX: Final = LockPromise(
    name="MUTEX",
    about="a lock has at most one holder while clocks drift within the bound",
    judge=_one_holder,
    tested=lambda system, state: bool(system.holders(state)) and bool(system.refused(state)),
)
LEASE: Final = LockPromise(
    name="LEASE",
    about="a lock that no actor holds is taken within one lease",
    judge=_soon_free,
    tested=lambda system, state: bool(system.refused(state)) and not system.holders(state),
)
PROMISES: Final = (MUTEX, LEASE)
