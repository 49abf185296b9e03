"""Bound functions and transitions: every name is resolved to the components whose values the call receives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

EVERY = "every_"
"""The prefix of a parameter that takes the components of all actors of a kind."""
OWN = "own_"
"""The prefix of a parameter that takes a record which a mechanism adds to the actor."""


class UnknownName(TypeError):
    """A parameter or a change names neither a component, nor a view, nor a constant of the model."""


class Bound(NamedTuple):
    """A function of the values of `reads`, in this order. `keywords` are the arguments of the step that it receives."""

    call: Callable[..., Any]
    reads: tuple[str, ...]
    keywords: tuple[str, ...] = ()


class BoundGuard(NamedTuple):
    """A condition on the values of `reads`, in this order."""

    reason: str
    holds: Callable[..., object]
    reads: tuple[str, ...]
    limit: bool = False


class BoundTransition(NamedTuple):
    """A transition with resolved names. `actor_guards` are the guards that read the actor's own component alone.

    `reads` are the components that any of its functions reads, the actor's own first. `arguments` and `effect` take the
    values of their own `reads`. The effect returns new values of some components in `writes`.
    """

    action: str
    actor: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    actor_guards: tuple[BoundGuard, ...]
    guards: tuple[BoundGuard, ...]
    arguments: Bound
    effect: Bound
    component: str
    """The name of the actor's own component."""


class ViewStep(NamedTuple):
    """One function of a view, and the actors to which it applies; None: to all, and to reads without an actor."""

    function: Callable[..., Any]
    actors: frozenset[str] | None = None
