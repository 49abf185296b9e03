"""The interfaces of systems and promises for a search.

Every system has `initial`, and either `successors(state)` or both `enabled(state)` and `apply(state, step)`. The
methods `finished`, `stopped_by_limits` and `projection` are optional. `finished(state)` returns True if a run may end
in this state; otherwise, the end is a deadlock. `stopped_by_limits(state)` returns the actors that only a limit of
the world prevents from continuing. `projection(names)` returns a function that maps a state to the values of the
named components.

A promise has a `name`, and is a property of states, of steps or of whole runs: its `kind` is "state", "step" or "run".
`holds(system, before, step, after)` checks the step from state `before` to state `after`: it returns None, or a message
that describes the violation. `sometimes(system, state)` returns False if the promise is only vacuously true in the
state. The methods `reads`, `unfit` and `shape` are optional. `reads(system)` returns the components (state variables)
that the promise reads. A search evaluates the promise once for each combination of values of these components.
`unfit(system)` returns the reason why the promise does not apply to a system, or None. `shape(system, *states)` returns
a key of equal verdicts, or None.

A promise about whole runs has further methods. `outstanding(system, state)` returns the events that must still occur
after a state, each with a description. `limited(system, state)` returns a phrase about the actors that only a limit of
the world prevents from acting. `fair(system, step)` states whether the promise assumes that the step's action is fair,
and `often(system, step)` whether strongly or weakly fair (see `lasso`); `often` is optional. The optional method
`first(system, states)` judges all visited states at once: it returns the index of the first violation and a message, or
None. A promise with `first` is not judged by cycles. The class `nbcc.model.promises.promise.Promise` has all these
methods.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, cast

from nbcc.model.machine import TransitionSystem

Successors = Callable[[Any], Iterator[tuple[Any, Any]]]
Projection = Callable[[Any], Hashable]


def successors_of(system: Any) -> Successors:
    """Return the function `successors` of a system, or an equivalent function that calls `enabled` and `apply`."""
    if hasattr(system, "successors"):
        return cast(Successors, system.successors)

    def successors(state: Any) -> Iterator[tuple[Any, Any]]:
        for step in cast(Iterable[Any], system.enabled(state)):
            yield step, system.apply(state, step)

    return successors


def unfit_of(promise: Any, system: Any) -> str | None:
    """Return the reason why a promise does not apply to a system, or None."""
    unfit = getattr(promise, "unfit", None)
    return unfit(system) if unfit else None


def shape_of(promise: Any) -> Callable[..., Hashable | None] | None:
    """Return the function that maps a state to its shape: the promise has one verdict on all states of a shape."""
    return getattr(promise, "shape", None)


def first_of(promise: Any) -> Callable[..., tuple[int, str] | None] | None:
    """Return the function that finds the first violation of a promise in all states of a search, if it has one."""
    return getattr(promise, "first", None)


def rests_on(system: Any, promise: Any) -> tuple[str, ...] | None:
    """Return the components (state variables) that a promise reads, or None if they are unknown."""
    if not hasattr(promise, "reads") or not isinstance(system, TransitionSystem):
        return None
    return tuple(promise.reads(system))


def projection_of(system: Any, promise: Any) -> Projection:
    """Return a function that maps a state to the components that a promise reads, or to the whole state if these
    components are unknown.
    """
    if hasattr(promise, "reads") and hasattr(system, "projection"):
        return cast(Projection, system.projection(promise.reads(system)))
    return lambda state: state
