"""The promises of the lock models: MUTEX and LEASE (docs/contract.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .limits import LockLimits


class LockModel(Protocol):
    """The views of a lock model that the promises of locks read."""

    limits: LockLimits
    contenders: tuple[str, ...]

    def components(self) -> tuple[str, ...]:
        """Return the names of all components."""

    def holders(self, state: int) -> list[str]:
        """Return the contenders that hold the lock: each has a lease, and its own clock has not passed the end."""

    def refused(self, state: int) -> list[str]:
        """Return the live contenders without a request under way for which the lock in the store is not free."""

    def unheld(self, state: int, contender: str) -> int:
        """Return the number of ticks of the contender's clock for which no actor has held the lock."""

    def asking(self, state: int) -> bool:
        """Return whether the actor of the newest lease in the store waits for the answer to a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockPromise:
    """A promise over states, in the form that `explore` needs."""

    name: str
    about: str
    judge: Callable[[Any, int], str | None]
    tested: Callable[[Any, int], bool]
    kind: str = "state"

    def holds(self, system: LockModel, before: object, step: object, after: int) -> str | None:
        """Return None, or a sentence about the violation."""
        return self.judge(system, after)

    def sometimes(self, system: LockModel, state: int) -> bool:
        """Return whether the state tests the promise."""
        return self.tested(system, state)

    def reads(self, system: LockModel) -> tuple[str, ...]:
        """Return the components that the promise reads."""
        return system.components()


def _one_holder(system: LockModel, state: int) -> str | None:
    holders = system.holders(state)
    return f"{' and '.join(holders)} hold the lock at the same time" if len(holders) > 1 else None


def longest(limits: LockLimits) -> int:
    """Return after how many ticks without a holder the lock must be free: one lease, and the drift of the clocks."""
    return limits.lease + limits.drift


def _soon_free(system: LockModel, state: int) -> str | None:
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
