"""Bound functions and transitions: every parameter name is resolved to the components that supply its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

EVERY = "every_"
"""The prefix of a parameter that takes the components of all actors of a kind."""
OWN = "own_"
"""The prefix of a parameter that takes a record which a mechanism adds to the actor."""


class UnknownName(TypeError):
    """Raised if the name of a parameter or of a changed component is not a component, a view or a constant of the
    model.
    """


class Bound(NamedTuple):
    """A function that receives the values of the components `reads`, in this order. `keywords` names the arguments of
    the step that the function receives.
    """

    call: Callable[..., Any]
    reads: tuple[str, ...]
    keywords: tuple[str, ...] = ()


class BoundGuard(NamedTuple):
    """A condition. The function `holds` receives the values of the components `reads`, in this order."""

    reason: str
    holds: Callable[..., object]
    reads: tuple[str, ...]
    limit: bool = False


class BoundTransition(NamedTuple):
    """A transition with resolved names. `actor_guards` are the guards that read the actor's own component alone.

    `reads` lists every component that a function of the transition reads, the actor's own component first. The
    functions `arguments` and `effect` each receive only the values of the components in their own `reads`. The effect
    may return a new value only for a component that `writes` lists.
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
    """One function of a view. `actors` lists the actors to which the function applies. If `actors` is None, the
    function applies to all actors and to reads without an actor.
    """

    function: Callable[..., Any]
    actors: frozenset[str] | None = None
