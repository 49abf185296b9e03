"""Finds the actors that are blocked only by limits of the world, such as the number of writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from .state import Coding, State
from .stepper import Compiled, CompiledGuard
from .transition import CRASHES

_Candidates = tuple[list[Compiled], list[Compiled]]
"""For one value of an actor's component: the transitions of which only limits are false there, and those of which
nothing is false there but another component may exceed a limit."""


class LimitChecker:
    """Finds the actors that are blocked only by limits of the world."""

    def __init__(self, coding: Coding, transitions: Iterable[Compiled]) -> None:
        self.coding = coding
        by_component: dict[int, list[Compiled]] = {}
        self._by_action: dict[str, list[Compiled]] = {}
        for compiled in transitions:
            self._by_action.setdefault(compiled.transition.action, []).append(compiled)
            if CRASHES not in compiled.transition.tags:
                by_component.setdefault(compiled.own, []).append(compiled)
        self._by_component = [(own, coding.mask((own,)), some) for own, some in by_component.items()]
        self._candidates: dict[tuple[int, State], _Candidates] = {}
        self._results: dict[tuple[int, State, bool], bool] = {}

    def stopped(self, state: State) -> Iterator[str]:
        """Yield each actor that is blocked only by limits of the world. Actors blocked by a limit that depends only on
        their own state come first.
        """
        candidates = [self._candidates_of(own, state & mask, some) for own, mask, some in self._by_component]
        actors = set()
        for compiled in chain(*(limited for limited, _ in candidates), *(able for _, able in candidates)):
            if compiled.transition.actor not in actors and self._only_limits_are_false(compiled, state):
                actors.add(compiled.transition.actor)
                yield compiled.transition.actor

    def stops(self, state: State, actions: Iterable[str], at_any_step: bool = False) -> bool:
        """True if only limits of the world prevent a step with one of the given actions. With `at_any_step`, the
        actor's own state may prevent it too.
        """
        rows = (each for action in actions for each in self._by_action.get(action, ()))
        return any(self._only_limits_are_false(compiled, state, at_any_step) for compiled in rows)

    def _candidates_of(self, own: int, bits: State, transitions: Iterable[Compiled]) -> _Candidates:
        if (own, bits) not in self._candidates:
            value, limited, able = self.coding.value(bits, own), list[Compiled](), list[Compiled]()
            for compiled in transitions:
                false = [guard for guard in compiled.transition.actor_guards if not guard.holds(value)]
                if false and all(guard.limit for guard in false):
                    limited.append(compiled)
                elif not false and any(guard.limit for guard in compiled.transition.guards):
                    able.append(compiled)
            self._candidates[own, bits] = limited, able
        return self._candidates[own, bits]

    def _only_limits_are_false(self, compiled: Compiled, state: State, at_any_step: bool = False) -> bool:
        key = (id(compiled), state & compiled.mask, at_any_step)
        if key not in self._results:
            own = self.coding.value(state, compiled.own)
            false = [guard.limit or at_any_step for guard in compiled.transition.actor_guards if not guard.holds(own)]
            false += [each.guard.limit for each in compiled.guards if not self._holds(each, state)]
            self._results[key] = bool(false) and all(false)
        return self._results[key]

    def _holds(self, each: CompiledGuard, state: State) -> bool:
        return bool(each.guard.holds(*self.coding.read(state, each.positions)))
