"""What a finished search has seen: each action taken, each condition false where it alone decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from nbcc.model.packed import Coding, Compiled
from nbcc.model.step import Guard

from .result import Coverage
from .space import Space
from .watch import Watchers

FAR = 64
"""Between two footprints that are looked at one after the other: what one condition alone decides lies together."""


def coverage_of(space: Space, watchers: Watchers) -> Coverage:
    """Gathered afterwards from what the rows remember; a system without rows has neither actions nor conditions."""
    untested = tuple(w.promise.name for w in watchers.watches if not w.reached and not w.unfit)
    actions: dict[str, int] = {}
    false: dict[tuple[str, str], bool] = {}
    for compiled in space.rows():
        row = compiled.row
        actions[row.action] = actions.get(row.action, 0) + sum(map(bool, compiled.found.values()))
        for guard, decided in _decided(space.system.coding, compiled):
            # Rows of several actors have the same conditions, each with its own name in it.
            key = (row.action, guard.reason.replace(row.actor, "the actor"))
            false[key] = false.get(key, False) or decided
    never = tuple(key for key, decided in false.items() if not decided)
    return Coverage(actions=actions, never_false=never, untested=untested)


def _decided(coding: Coding, compiled: Compiled) -> Iterator[tuple[Guard, bool]]:
    """Each condition of a row, and whether it was once the only one that was false."""
    row = compiled.row
    yield from _alone(row.own, ([value] for value in coding.values(compiled.reads[0])))
    nothing = [state for state, moves in compiled.found.items() if not moves]  # elsewhere no condition was false
    spread = chain.from_iterable(nothing[start::FAR] for start in range(FAR))
    yield from _alone(row.guards, (coding.read(state, compiled.reads) for state in spread))


def _alone(guards: Sequence[Guard], seen: Iterable[Sequence[Any]]) -> Iterator[tuple[Guard, bool]]:
    alone: list[int] = []
    left = list(range(len(guards)))
    for values in seen:
        if any(not _holds(guards[i].holds, values) for i in alone):
            continue  # whichever others are false, too: none of them alone
        false = list(islice((i for i in left if not _holds(guards[i].holds, values)), 2))
        if len(false) == 1:
            alone += false
            left.remove(*false)
        if not left:
            break
    return ((guard, i in alone) for i, guard in enumerate(guards))


def _holds(holds: Callable[..., bool], values: Sequence[Any]) -> bool:
    """A condition that cannot even be looked at, because another one does not hold, is not what decides."""
    try:
        return holds(*values)
    except (IndexError, KeyError, AttributeError, TypeError, StopIteration):
        return True
