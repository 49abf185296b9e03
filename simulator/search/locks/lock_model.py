"""The common parts of the lock models: transitions of contenders, drifting clocks, and crashes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from nbcc.model.machine import (
    Branch,
    Changes,
    Component,
    Effect,
    Guard,
    Transition,
    TransitionSystem,
    preset,
    transition,
)
from nbcc.model.machine.transition import DEAD

from .limits import LockLimits
from .promises import PROMISES


class LockModel(TransitionSystem):
    """A model of contenders (actors) that compete for one lock. `unheld_since` is the time, on the fastest clock, at
    which the lock was last held.
    """

    promises = PROMISES
    uniform = True
    stored: ClassVar[str]
    """The component with the lock in the store."""
    under_way: ClassVar[tuple[str, ...]]
    """The steps of a contender with a request under way."""
    rules: Any
    """The rules of the lock protocol, or those of a mutant."""

    def __init__(self, limits: LockLimits, empty: Any, contender: Any) -> None:
        self.limits = limits
        self.contenders = tuple(f"c{number + 1}" for number in range(limits.contenders))
        first = {self.stored: empty, "unheld_since": 0, "faults": 0, "crashes": 0}
        rows = (row for me in self.contenders for row in (*self._transitions(me), self._tick(me), self._crash(me)))
        contenders = dict.fromkeys(self.contenders, contender)
        super().__init__({**first, **contenders}, rows, {"contender": self.contenders})

    @abstractmethod
    def _transitions(self, me: str) -> Iterator[Transition]:
        """Return the transitions of one contender, without those of its clock and its crash."""

    @abstractmethod
    def owner(self, stored: Any) -> str | None:
        """Return the contender that owns the stored lock, or None."""

    def _one(
        self,
        me: str,
        action: str,
        at: str,
        effect: Effect,
        holds: Callable[..., bool] | None = None,
        *,
        held: Callable[..., bool] | None = None,
        fault: bool = False,
    ) -> Transition:
        """Return the transition of contender `me` for `action`. The docstring of the guard function `holds` is the text
        that describes the guard. If `held` is true, the lock counts as held until now: the contender has acquired it,
        or has failed to read back the lock that it owns.
        """
        guards = [Guard(str(holds.__doc__), holds)] if holds else []
        # One transition may change both components, so that a put and what its contender learns of it are one step.
        made = transition(action, me, at=at, guards=guards, effect=effect, changes=("own", self.stored))
        if fault:
            left = Guard("a fault must be left", preset(_is_left, limits=self.limits), limit=True)
            made = made.require(left).extend(_count_fault, "faults")
        # `precede`, because the condition is about the state before the step, in which the request is still under way.
        return _with_hold(made if held is None else made.precede(Branch(held, (_held_until_now,), ()), "unheld_since"))

    def _tick(self, me: str) -> Transition:
        may = Guard("clocks must differ by at most the drift", preset(_may_tick, limits=self.limits), limit=True)
        return _with_hold(transition("clock_ticks", me, guards=(may,), effect=_tick))

    def _crash(self, me: str) -> Transition:
        def owns(stored: Any) -> bool:
            return self.owner(stored) == me

        may = Guard("a crash must be left", preset(_may_crash, limits=self.limits), limit=True)
        made = transition("contender_crashes", me, guards=(may,), effect=_crash, changes=("own", "crashes"))
        # A crash of the owner is the last moment of its hold: from then on, the lease alone keeps others out.
        its_own = preset(owns, stored=Component(self.stored))
        return made.precede(Branch(its_own, (_held_until_now,), ()), "unheld_since")

    def identity(self) -> Any:
        """Return the limits and the rules, which determine every run."""
        return type(self).__qualname__, self.limits, self.rules

    @abstractmethod
    def refused(self, state: int) -> list[str]:
        """Return the idle contenders that must not acquire the lock, because the stored lock is not free."""

    def contender(self, state: int, name: str) -> Any:
        return self.component(state, name)

    def judged(self) -> tuple[str, ...]:
        """Return the components (state variables) that the promises read."""
        return (self.stored, "unheld_since", *self.contenders)

    def holders(self, state: int) -> list[str]:
        """Return the contenders whose lease has not expired according to their own clocks."""
        return [name for name in self.contenders if self.component(state, name).holds]

    def unheld(self, state: int, contender: str) -> int:
        """Return for how many ticks of the contender's clock no contender has held the lock."""
        since: int = self.component(state, "unheld_since")
        clock: int = self.component(state, contender).clock
        return clock - since

    def asking(self, state: int) -> bool:
        """Return True if the owner of the newest stored lease is waiting for an answer from the store."""
        owner = self.owner(self.component(state, self.stored))
        return owner is not None and self.component(state, owner).step in self.under_way


def _with_hold(made: Transition) -> Transition:
    return made.extend(Branch(_is_held, (_held_until_now,), ()), "unheld_since")


def _is_held(every_contender: Mapping[str, Any]) -> bool:
    return any(each.holds for each in every_contender.values())


def _held_until_now(every_contender: Mapping[str, Any]) -> Changes:
    # By the fastest clock, so that the time without a holder is never taken for longer than it was.
    return {"unheld_since": max(each.clock for each in every_contender.values())}


def _is_left(faults: int, limits: LockLimits) -> bool:
    return faults < limits.faults


def _count_fault(faults: int) -> Changes:
    return {"faults": faults + 1}


def _may_tick(own: Any, me: str, every_contender: Mapping[str, Any], limits: LockLimits) -> bool:
    clocks = [each.clock for name, each in every_contender.items() if name != me and each.is_alive]
    # Only clocks of live contenders count: the clock of a dead one has stopped, and would stop all others.
    ahead: int = own.clock + 1 - min(clocks, default=own.clock)
    return bool(own.is_alive) and own.clock < limits.ticks and ahead <= limits.drift


def _tick(own: Any) -> Changes:
    return {"own": own._replace(clock=own.clock + 1)}


def _may_crash(own: Any, crashes: int, limits: LockLimits) -> bool:
    return bool(own.is_alive) and crashes < limits.crashes


def _crash(own: Any, crashes: int) -> Changes:
    # The clock stays, because `unheld_since` is measured by the fastest clock.
    return {"own": type(own)(step=DEAD, clock=own.clock), "crashes": crashes + 1}
