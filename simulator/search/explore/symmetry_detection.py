"""Symmetry detection: finds actors that differ only in their names, from a sample of the first states of a search.

Only actors of one kind with the same options and writes can be exchangeable. Two such actors are exchangeable if
swapping their names maps each step in the sample to a possible step, and changes no promise's verdict. The module
`promises.shape` abstracts a state to its shape, without actor names. Promises that declare a shape function have the
same verdict on all states of the same shape.

The transitions of a user's system may be arbitrary functions, so `certify` verifies its symmetry after the search.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from nbcc.model import State, Step
from nbcc.model.machine import TransitionSystem

from .renaming import Image, Renaming, renamed, renamed_step
from .system import Projection, projection_of, shape_of, unfit_of

Moved = tuple[State, Step, State]
"""A step with the states before and after it."""
SAMPLE = 400
"""States on which a pair is tested. Tests of nbcc use all states of every small world."""


def classes(model: TransitionSystem, promises: Iterable[Any]) -> list[list[str]]:
    """Return the classes of exchangeable actors with at least two members."""
    states = list(islice(_first_states(model), SAMPLE))
    cache = PropertyCache(model, (p for p in promises if not unfit_of(p, model)))
    found: list[list[str]] = []
    for names in model.actors.values():
        found += _classes_of(names, states, cache)
    return [each for each in found if len(each) > 1]


def _classes_of(names: Sequence[str], states: Sequence[State], cache: PropertyCache) -> list[list[str]]:
    model = cache.model
    found: list[list[str]] = []
    first = {name: model.component(model.initial, name) for name in names}
    for name in names:
        for each in found:
            exchange = Exchange(cache, {name: each[0], each[0]: name})
            same = renamed(first[name], exchange.names) == first[each[0]]
            # One member stands for its class, because exchangeability is transitive.
            if same and model.alike(name, each[0]) and not any(exchange.difference(state) for state in states):
                each.append(name)
                break
        else:
            found.append([name])
    return found


class PropertyCache:
    """Caches whether each promise holds on a step. The cache key contains the values of the components that the promise
    reads.
    """

    def __init__(self, model: TransitionSystem, promises: Iterable[Any] = ()) -> None:
        self.model = model
        self._alike: dict[tuple[str, Any], list[tuple[Any, Projection]]] = {}
        """Promises with their projections, grouped by the steps that they distinguish."""
        for promise in promises:
            same = (promise.kind, shape_of(promise))
            self._alike.setdefault(same, []).append((promise, projection_of(model, promise)))
        self._held: dict[Hashable, bool] = {}

    def apart(self, one: Moved, other: Moved) -> str | None:
        """Return the name of a promise that holds on one of two steps but not on the other, or None."""
        for (kind, shape), promises in self._alike.items():
            if shape is not None and self._shaped_alike(kind, shape, one, other):
                continue
            for promise, project in promises:
                if self._holds(promise, project, *one) != self._holds(promise, project, *other):
                    return str(promise.name)
        return None

    def _shaped_alike(self, kind: str, shape: Callable[..., Hashable | None], one: Moved, other: Moved) -> bool:
        states = [(after,) if kind == "state" else (before, after) for before, _, after in (one, other)]
        here, there = (shape(self.model, *each) for each in states)
        return here is not None and here == there

    def _holds(self, promise: Any, project: Projection, before: State, step: Step, after: State) -> bool:
        was = () if promise.kind == "state" else (project(before), step)
        key = (promise.name, project(after), *was)
        if key not in self._held:
            self._held[key] = promise.holds(self.model, before, step, after) is None
        return self._held[key]


class Exchange:
    """A swap of two actors' names in states and steps. `difference` tests whether the swap is a symmetry of the model.
    """

    def __init__(self, cache: PropertyCache, names: Renaming) -> None:
        self.cache, self.model, self.names = cache, cache.model, names
        self._image = Image(cache.model, names, range(len(cache.model.coding.names)), ())

    def difference(self, state: State) -> str | None:
        """Return why the swap is not a symmetry in the given state, or None if no difference is found."""
        other = self._image.of_own(state)
        moves = [(step, after, self._image.of_own(after)) for step, after in self.model.successors(state)]
        if {(renamed_step(step, self.names), there) for step, _, there in moves} != set(self.model.successors(other)):
            return f"other steps are possible after {self.names}"
        for step, after, there in moves:
            if wrong := self.cache.apart((state, step, after), (other, renamed_step(step, self.names), there)):
                return f"{wrong} has another verdict after {self.names}"
        return None


def _first_states(model: TransitionSystem) -> Iterator[State]:
    seen, level = {model.initial}, [model.initial]
    while level:
        # A few states of each level, so that the sample also reaches actions that are possible late.
        yield from level[:: max(1, len(level) // 8)]
        following: list[State] = []
        # Bounded, because the detection must cost little compared with the search.
        for state in level[:200]:
            for _, after in model.successors(state):
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        level = following
