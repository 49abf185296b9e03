"""Limits: which actors only a limit of the world stops, no condition of the protocol and no crash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from .state import Coding, State
from .stepper import Compiled, CompiledGuard

_Near = tuple[list[Compiled], list[Compiled]]
"""The transitions that the actor's own value stops by limits alone, and those that another limit may stop."""


class Limits:
    """The transitions of a model; results are remembered per footprint."""

    def __init__(self, coding: Coding, rows: Iterable[Compiled]) -> None:
        self.coding = coding
        by_own: dict[int, list[Compiled]] = {}
        for compiled in rows:
            if compiled.transition.action != "actor_crashes":
                by_own.setdefault(compiled.own, []).append(compiled)
        self._rows = [(own, coding.mask((own,)), some) for own, some in by_own.items()]
        self._near: dict[tuple[int, State], _Near] = {}
        self._found: dict[tuple[int, State], bool] = {}

    def stopped(self, state: State) -> Iterator[str]:
        """The actors, each once; first those for which the value of their own component decides."""
        near = [self._near_of(own, state & mask, rows) for own, mask, rows in self._rows]
        told = set()
        for compiled in chain(*(limited for limited, _ in near), *(able for _, able in near)):
            if compiled.transition.actor not in told and self._lacks_a_limit_alone(compiled, state):
                told.add(compiled.transition.actor)
                yield compiled.transition.actor

    def _near_of(self, own: int, bits: State, rows: Iterable[Compiled]) -> _Near:
        if (own, bits) not in self._near:
            value, limited, able = self.coding.value(bits, own), list[Compiled](), list[Compiled]()
            for compiled in rows:
                false = [guard for guard in compiled.transition.actor_guards if not guard.holds(value)]
                if false and all(guard.limit for guard in false):
                    limited.append(compiled)
                elif not false and any(guard.limit for guard in compiled.transition.guards):
                    able.append(compiled)
            self._near[own, bits] = limited, able
        return self._near[own, bits]

    def _lacks_a_limit_alone(self, compiled: Compiled, state: State) -> bool:
        at = (id(compiled), state & compiled.mask)
        if at not in self._found:
            own = self.coding.value(state, compiled.own)
            limited = any(not guard.holds(own) for guard in compiled.transition.actor_guards)
            limited = limited or any(not self._holds(each, state) for each in compiled.guards if each.guard.limit)
            others = (each for each in compiled.guards if not each.guard.limit)
            self._found[at] = limited and all(self._holds(each, state) for each in others)
        return self._found[at]

    def _holds(self, each: CompiledGuard, state: State) -> bool:
        return bool(each.guard.holds(*self.coding.read(state, each.positions)))
