"""The common parts of the lock models: transitions of contenders, drifting clocks, and crashes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ..explore import Guard, Transition, TransitionSystem
from .limits import LockLimits, may_tick
from .promises import PROMISES

DEAD = "dead"


class LockModel(TransitionSystem):
    """A model of contenders (actors) that compete for one lock. `unheld_since` is the time, on the fastest clock, at
    which the lock was last held.
    """

    promises = PROMISES
    uniform = True
    stored: ClassVar[str]
    """The component with the lock in the store, and the field of an effect's result that has its next value."""
    under_way: ClassVar[tuple[str, ...]]
    """The steps of a contender with a request under way."""

    def __init__(self, limits: LockLimits, empty: Any, contender: Any) -> None:
        self.limits = limits
        self.contenders = tuple(f"c{number + 1}" for number in range(limits.contenders))
        shared: Mapping[str, Any] = {self.stored: empty, "unheld_since": 0, "faults": 0, "crashes": 0}
        first = {**shared, **dict.fromkeys(self.contenders, contender)}
        super().__init__(first, self._transitions(), {"contender": self.contenders})

    @abstractmethod
    def _transitions(self) -> Iterator[Transition]:
        """Return the transitions of all contenders."""

    @abstractmethod
    def owner(self, stored: Any) -> str | None:
        """Return the contender that owns the stored lock, or None."""

    def _reads(self, me: str) -> tuple[str, ...]:
        shared = (self.stored, "unheld_since", "faults", "crashes")
        return (me, *shared, *(name for name in self.contenders if name != me))

    def _one(self, me: str, action: str, at: str, holds: Any, effect: Any, fault: bool = False) -> Transition:
        """Return the transition of contender `me` for `action`. The docstring of the guard function `holds` is the text
        that describes the guard.
        """

        def done(own: Any, stored: Any, since: int, faults: int, crashes: int, *others: Any) -> Any:
            after = effect(own, stored)
            everyone = (after.own, *others)
            if after.ended or any(each.holds for each in everyone):
                since = max(each.clock for each in everyone)
            return after.own, getattr(after, self.stored), since, faults + after.fault

        condition = Guard(str(holds.__doc__), lambda own, stored, *_: holds(own, stored))
        left = Guard("a fault must be left", lambda own, stored, since, faults, *_: faults < self.limits.faults, True)
        writes = (me, self.stored, "unheld_since", "faults")
        step = Guard(f"the contender must be {at}", lambda own: own.step == at)
        return Transition(action, me, self._reads(me), writes, (step,), done, (condition, *((left,) if fault else ())))

    def _tick(self, me: str) -> Transition:
        def may(own: Any, stored: Any, since: Any, faults: Any, crashes: Any, *others: Any) -> bool:
            return own.is_alive and may_tick(own, others, self.limits)

        def done(own: Any, stored: Any, since: int, faults: Any, crashes: Any, *others: Any) -> Any:
            everyone = (own._replace(clock=own.clock + 1), *others)
            held = any(each.holds for each in everyone)
            return everyone[0], max(each.clock for each in everyone) if held else since

        guard = Guard("clocks must differ by at most the drift", may, True)
        return Transition("clock_ticks", me, self._reads(me), (me, "unheld_since"), (), done, (guard,))

    def _crash(self, me: str) -> Transition:
        def may(own: Any, stored: Any, since: Any, faults: Any, crashes: int, *_: Any) -> bool:
            return own.is_alive and crashes < self.limits.crashes

        def done(own: Any, stored: Any, since: int, faults: Any, crashes: int, *others: Any) -> Any:
            if self.owner(stored) == me:  # its lock counts as held until now
                since = max(each.clock for each in (own, *others))
            return type(own)(step=DEAD, clock=own.clock), since, crashes + 1

        guard = Guard("a crash must be left", may, True)
        writes = (me, "unheld_since", "crashes")
        return Transition("contender_crashes", me, self._reads(me), writes, (), done, (guard,))

    def components(self) -> tuple[str, ...]:
        return (self.stored, "unheld_since", *self.contenders)

    def holders(self, state: int) -> list[str]:
        return [name for name in self.contenders if self.component(state, name).holds]

    def unheld(self, state: int, contender: str) -> int:
        since: int = self.component(state, "unheld_since")
        clock: int = self.component(state, contender).clock
        return clock - since

    def asking(self, state: int) -> bool:
        owner = self.owner(self.component(state, self.stored))
        return owner is not None and self.component(state, owner).step in self.under_way
