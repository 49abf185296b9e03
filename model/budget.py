"""Who is kept from acting by a limit of the world alone: by no condition of the protocol, and by no crash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from .packed import Coding, Compiled, State

_Near = tuple[list[Compiled], list[Compiled]]
"""The rows that an actor's own value stops by limits alone, and those that it does not stop and a limit may."""


class Budget:
    """The rows of a model; what was found is remembered per footprint."""

    def __init__(self, coding: Coding, rows: Iterable[Compiled]) -> None:
        self.coding = coding
        by_own: dict[int, list[Compiled]] = {}
        for compiled in rows:
            if compiled.row.action != "actor_crashes":
                by_own.setdefault(compiled.reads[0], []).append(compiled)
        self._rows = [(own, coding.mask((own,)), some) for own, some in by_own.items()]
        self._near: dict[tuple[int, State], _Near] = {}
        self._found: dict[tuple[int, State], bool] = {}

    def stopped(self, state: State) -> Iterator[str]:
        """The actors, each once; those first of whom their own value tells it."""
        near = [self._near_of(own, state & mask, rows) for own, mask, rows in self._rows]
        told = set()
        for compiled in chain(*(limited for limited, _ in near), *(able for _, able in near)):
            if compiled.row.actor not in told and self._lacks_a_limit_alone(compiled, state):
                told.add(compiled.row.actor)
                yield compiled.row.actor

    def _near_of(self, own: int, bits: State, rows: Iterable[Compiled]) -> _Near:
        if (own, bits) not in self._near:
            value, limited, able = self.coding.value(bits, own), list[Compiled](), list[Compiled]()
            for compiled in rows:
                false = [guard for guard in compiled.row.own if not guard.holds(value)]
                if false and all(guard.budget for guard in false):
                    limited.append(compiled)
                elif not false and any(guard.budget for guard in compiled.row.guards):
                    able.append(compiled)
            self._near[own, bits] = limited, able
        return self._near[own, bits]

    def _lacks_a_limit_alone(self, compiled: Compiled, state: State) -> bool:
        at = (id(compiled), state & compiled.mask)
        if at not in self._found:
            values, guards = self.coding.read(state, compiled.reads), compiled.row.guards
            limited = any(not guard.holds(values[0]) for guard in compiled.row.own)
            limited = limited or any(not guard.holds(*values) for guard in guards if guard.budget)
            self._found[at] = limited and all(guard.holds(*values) for guard in guards if not guard.budget)
        return self._found[at]
