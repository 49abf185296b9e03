"""What a search needs of a system and of a promise; anything of this shape can be explored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol, cast, runtime_checkable

Successors = Callable[[Any], Iterator[tuple[Any, Any]]]
Projection = Callable[[Any], Hashable]


class Explorable(Protocol):
    """`initial` and `successors(state)`; instead of the latter `enabled(state)` and `apply(state, step)` will do.

    If it has them, these are used: `finished(state)` (to stop here is no deadlock), `stopped_by_limits(state)` (who is
    kept from acting by a limit alone), `projection(names)` (a function from a state to what some components hold).
    """

    @property
    def initial(self) -> Any: ...


@runtime_checkable
class Property(Protocol):
    """A promise: `kind` is state or step, `holds` gives None or a message, `sometimes` a state that tests it.

    If it has them, these are used: `reads(system)` (the components it rests on: it is evaluated once per distinct
    values of these, and per action for a step) and `unfit(system)` (why it says nothing of this system).
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
    """The system's successors, made of `enabled` and `apply` where it has no faster way."""
    if hasattr(system, "successors"):
        return cast(Successors, system.successors)

    def successors(state: Any) -> Iterator[tuple[Any, Any]]:
        for step in cast(Iterable[Any], system.enabled(state)):
            yield step, system.apply(state, step)

    return successors


def rests_on(system: Any, promise: Any) -> tuple[str, ...] | None:
    """The components of a packed system that a promise rests on; None: everything, or nobody says."""
    if not hasattr(promise, "reads") or not hasattr(system, "coding"):
        return None
    return tuple(promise.reads(system))


def projection_of(system: Any, promise: Any) -> Projection:
    """What of a state a promise rests on; all of it unless both say more."""
    if hasattr(promise, "reads") and hasattr(system, "projection"):
        return cast(Projection, system.projection(promise.reads(system)))
    return lambda state: state
