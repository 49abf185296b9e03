"""The interfaces of systems and promises that a search needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol, cast, runtime_checkable

Successors = Callable[[Any], Iterator[tuple[Any, Any]]]
Projection = Callable[[Any], Hashable]


class Explorable(Protocol):
    """A system: `initial`, and `successors(state)` or both `enabled(state)` and `apply(state, step)`.

    Optional: `finished(state)` (an end here is not a deadlock), `stopped_by_limits(state)` (the actors that only a
    limit stops), `projection(names)` (a function from a state to the values of components).
    """

    @property
    def initial(self) -> Any: ...


@runtime_checkable
class Property(Protocol):
    """A promise about states or steps (`kind`).

    `holds(system, before, step, after)` returns None or a message. `sometimes(system, state)` is true in a state that
    tests the promise. Optional: `reads(system)`, the components that it reads, so that it is evaluated once for each of
    their values; `unfit(system)`, the reason why it does not apply to a system.
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
    """The function `successors` of a system; made of `enabled` and `apply` if it has none."""
    if hasattr(system, "successors"):
        return cast(Successors, system.successors)

    def successors(state: Any) -> Iterator[tuple[Any, Any]]:
        for step in cast(Iterable[Any], system.enabled(state)):
            yield step, system.apply(state, step)

    return successors


def rests_on(system: Any, promise: Any) -> tuple[str, ...] | None:
    """The components that a promise reads; None if they are unknown."""
    if not hasattr(promise, "reads") or not hasattr(system, "coding"):
        return None
    return tuple(promise.reads(system))


def projection_of(system: Any, promise: Any) -> Projection:
    """A function from a state to the part that a promise reads; the whole state if that is unknown."""
    if hasattr(promise, "reads") and hasattr(system, "projection"):
        return cast(Projection, system.projection(promise.reads(system)))
    return lambda state: state
