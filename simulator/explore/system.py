"""The interfaces of systems and promises that a search needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol, cast, runtime_checkable

Successors = Callable[[Any], Iterator[tuple[Any, Any]]]
Projection = Callable[[Any], Hashable]


class Explorable(Protocol):
    """A system: `initial`, and `successors(state)` or both `enabled(state)` and `apply(state, step)`.

    A system may also have three further methods. `finished(state)` returns True if an end in this state is not a
    deadlock. `stopped_by_limits(state)` returns the actors that only a limit stops. `projection(names)` returns a
    function from a state to the values of components.
    """

    @property
    def initial(self) -> Any: ...


@runtime_checkable
class Property(Protocol):
    """A promise about states or steps (`kind`).

    `holds(system, before, step, after)` returns None or a message. `sometimes(system, state)` is true in a state that
    exercises the promise. A promise may also have two further methods. `reads(system)` returns the components that the
    promise reads: a search evaluates it once for each combination of their values. `unfit(system)` returns the reason
    why the promise does not apply to a system.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def holds(self) -> Callable[[Any, Any, Any, Any], str | None]: ...
    @property
    def sometimes(self) -> Callable[[Any, Any], bool]: ...


def successors_of(system: Any) -> Successors:
    """Return the function `successors` of a system. If the system has no `successors`, the result combines `enabled`
    and `apply`.
    """
    if hasattr(system, "successors"):
        return cast(Successors, system.successors)

    def successors(state: Any) -> Iterator[tuple[Any, Any]]:
        for step in cast(Iterable[Any], system.enabled(state)):
            yield step, system.apply(state, step)

    return successors


def rests_on(system: Any, promise: Any) -> tuple[str, ...] | None:
    """Return the components that a promise reads; None if these components are unknown."""
    if not hasattr(promise, "reads") or not hasattr(system, "coding"):
        return None
    return tuple(promise.reads(system))


def projection_of(system: Any, promise: Any) -> Projection:
    """Return a function from a state to the part of the state that a promise reads. If that part is unknown, the
    function returns the whole state.
    """
    if hasattr(promise, "reads") and hasattr(system, "projection"):
        return cast(Projection, system.projection(promise.reads(system)))
    return lambda state: state
