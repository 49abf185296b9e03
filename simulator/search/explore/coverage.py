"""The coverage of a finished search: which actions were possible, and which guards were never the only reason why an
action was impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from nbcc.model.machine.bound import BoundGuard
from nbcc.model.machine.state import Coding
from nbcc.model.machine.stepper import Compiled, CompiledGuard

from .result import Coverage
from .space import Space
from .watch import Watchers

FAR = 64
"""The stride between footprints: those that one condition alone decides are close together in the memo."""


def coverage_of(space: Space, watchers: Watchers) -> Coverage:
    """Return the coverage of a search. A system without transitions has no coverage of actions and guards."""
    untested = tuple(w.promise.name for w in watchers.watches if not w.reached and not w.unfit)
    actions: dict[str, int] = {}
    false: dict[tuple[str, str], bool] = {}
    for compiled in space.rows():
        row = compiled.transition
        actions[row.action] = actions.get(row.action, 0) + sum(map(bool, compiled.memo.values()))
        for guard, decided in _decided(space.system.coding, compiled):
            # The conditions of several actors are the same but for their names.
            key = (row.action, guard.reason.replace(row.actor, "the actor"))
            false[key] = false.get(key, False) or decided
    never = tuple(key for key, decided in false.items() if not decided)
    return Coverage(actions=actions, never_false=never, untested=untested)


def _decided(coding: Coding, compiled: Compiled) -> Iterator[tuple[BoundGuard, bool]]:
    """Yield each guard of a transition, and whether the guard alone blocked the transition in some state."""
    row = compiled.transition
    own = [guard.holds for guard in row.actor_guards]
    yield from zip(row.actor_guards, _alone(own, coding.values(compiled.own)), strict=True)
    nothing = [state for state, moves in compiled.memo.items() if not moves]  # elsewhere no condition was false
    spread = chain.from_iterable(nothing[start::FAR] for start in range(FAR))
    others = [_of_state(coding, each) for each in compiled.guards]
    yield from zip(row.guards, _alone(others, spread), strict=True)


def _of_state(coding: Coding, each: CompiledGuard) -> Callable[[int], bool]:
    return lambda state: bool(each.guard.holds(*coding.read(state, each.positions)))


def _alone(conditions: Sequence[Callable[[Any], object]], seen: Iterable[Any]) -> list[bool]:
    alone: list[int] = []
    left = list(range(len(conditions)))
    for value in seen:
        if any(not _holds(conditions[i], value) for i in alone):
            continue  # another condition may be false here, but not alone
        # Two are enough to know that none is alone.
        false = list(islice((i for i in left if not _holds(conditions[i], value)), 2))
        if len(false) == 1:
            alone += false
            left.remove(*false)
        if not left:
            break
    return [i in alone for i in range(len(conditions))]


def _holds(holds: Callable[[Any], object], value: Any) -> bool:
    try:
        return bool(holds(value))
    # A guard may rely on an earlier one being true. Where that one is false, this one decides nothing.
    except (IndexError, KeyError, AttributeError, TypeError, StopIteration):
        return True
